// Draws dashboards in Chromium: a PNG of each, and a list of faults: queries that are empty or fail, transformations that
// fail, components that throw, addresses that are not ours.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = path.dirname(fileURLToPath(import.meta.url));
const kArguments = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];

async function settle(page, seconds) {
  for (let i = 0, calm = 0; i < seconds && calm < 3; i++) {
    await page.waitForTimeout(1000);
    const busy = await page.evaluate(() => !window.__queries?.length || window.__pending > 0 || window.__sceneFaults().some(f => f.startsWith('LOADING')));
    calm = busy ? 0 : calm + 1;
  }
}

/** @returns {Promise<string[]>} faults */
export async function shoot(base, outDir, parameters, themes = ['dark']) {
  fs.mkdirSync(outDir, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: kArguments });
  const faults = [];
  for (const theme of themes)
    for (const name of fs.readdirSync(path.join(here, '../json')).filter(n => n.endsWith('.json'))) {
      const d = JSON.parse(fs.readFileSync(path.join(here, '../json', name), 'utf8'));
      const rows = Math.max(...d.panels.map(p => p.gridPos.y + p.gridPos.h));
      const page = await browser.newPage({ viewport: { width: 1500, height: 240 + rows * 38 } });
      const found = [];
      page.on('pageerror', e => found.push('PAGE ' + (e.stack ?? e.message).slice(0, 600)));
      page.on('request', r => { if (!r.url().startsWith(base) && !r.url().startsWith('data:')) found.push('FOREIGN ' + r.url()); });
      await page.goto(`${base}?${new URLSearchParams({ ...parameters, uid: d.uid, theme })}`, { timeout: 120_000 });
      await settle(page, 90);
      const { errors, queries } = await page.evaluate(() => ({ errors: [...window.__errors, ...window.__sceneFaults()], queries: window.__queries }));
      await page.screenshot({ path: path.join(outDir, `${d.uid}-${theme}.png`) });
      await page.close();
      if (!queries.length) found.push('no query was sent');
      const all = [...new Set([...found, ...errors])].map(f => `${d.uid}: ${f}`);
      console.log(`${d.uid} (${theme}): ${queries.length} queries, ${all.length} faults`);
      faults.push(...all);
    }
  await browser.close();
  return faults;
}
