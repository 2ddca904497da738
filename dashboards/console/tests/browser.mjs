// A browser for the tests: every page it opens is watched for errors and for requests to other hosts.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const SHOTS = process.env.PLIMSOLL_SHOTS ?? join(here, '../../../build/console-shots');

export function whyNot() {
  if (!existsSync(CHROMIUM)) return `there is no ${CHROMIUM}: apt-get install chromium, or set CHROMIUM`;
  if (!existsSync(join(here, '../node_modules/playwright-core'))) return 'packages are missing: npm ci in dashboards/console';
  return '';
}

export async function launch() {
  const { chromium } = require('playwright-core');
  // The sandbox needs privileges that containers lack; pages are our own.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--force-color-profile=srgb'] });
}

// Opens pages; check() fails if one of them had an error that was not to be expected.
export class Visitor {
  constructor(browser, { width = 1280, height = 720, scheme = 'light', allowed = [] } = {}) {
    this.browser = browser;
    this.options = { viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' };
    this.allowed = allowed; // patterns of errors that the test causes
    this.errors = [];
    this.urls = [];
  }

  async open(url) {
    this.context ??= await this.browser.newContext(this.options);
    const page = await this.context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => { if (message.type() === 'error') this.errors.push(`${message.text()} ${message.location().url}`); });
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('request', (request) => this.urls.push(request.url()));
    await page.goto(url);
    await page.locator('main h1, main .state').first().waitFor();
    return page;
  }

  check() {
    const unexpected = this.errors.filter((text) => !this.allowed.some((pattern) => pattern.test(text)));
    assert.deepEqual(unexpected, [], 'errors in the browser');
    const foreign = this.urls.filter((url) => !/^(http:\/\/127\.0\.0\.1:|blob:http:\/\/127\.0\.0\.1:)/.test(url));
    assert.deepEqual(foreign, [], 'requests to other hosts');
  }

  async close() {
    await this.context?.close();
    this.check();
  }
}

export async function visit(browser, options, work) {
  const visitor = new Visitor(browser, options);
  try {
    await work(visitor);
  } catch (error) {
    error.message += `\nbrowser said: ${visitor.errors.join('\n')}`;
    await visitor.context?.close();
    throw error;
  }
  await visitor.close();
}

let axe;
export async function assertAccessible(page) {
  axe ??= readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const told = violations.map((v) => `${v.id}: ${v.help}\n${v.nodes.slice(0, 4).map((n) => `   ${n.html.slice(0, 160)}\n      ${n.failureSummary?.replaceAll('\n', ' ')}`).join('\n')}`);
  assert.deepEqual(told, [], `axe-core on ${page.url()}`);
}

export async function shot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}
