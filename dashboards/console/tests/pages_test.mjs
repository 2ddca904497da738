// Every page with a scripted fleet: how it looks, that everybody can use it, and that it answers why.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, shot, visit } from './browser.mjs';
import { MockServer } from './mock_server.mjs';
import { Story } from './story.mjs';

let browser;
let mock;
before(async () => {
  browser = await launch();
  mock = await new MockServer().start();
});
after(async () => {
  await browser?.close();
  await mock?.stop();
});

const PAGES = {
  fleet: { path: '', shows: 'table.grid tbody tr:nth-child(3)' },
  dependency: { path: 'dependencies/payments-api', shows: '.chart canvas' },
  override: { path: 'dependencies/fraud-score', shows: '.note.t-info' },
  instances: { path: 'instances', shows: 'table.grid tbody tr:nth-child(3)' },
  quota: { path: 'quota', shows: '.quota-bar' },
  events: { path: 'events', shows: '.event' },
  config: { path: 'config', shows: 'table.grid tbody tr:nth-child(3)' },
};

const SIZES = [[1280, 720], [1920, 1080], [390, 844]];

for (const scheme of ['light', 'dark']) {
  for (const [name, { path, shows }] of Object.entries(PAGES)) {
    test(`${name}, ${scheme}, at three sizes`, () => visit(browser, { scheme }, async (visitor) => {
      const page = await visitor.open(mock.url(path));
      await page.locator(shows).first().waitFor();
      await page.locator('.live.live').waitFor();
      await page.waitForFunction(() => !document.querySelector('.skeleton'));
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        await page.waitForFunction((wide) => document.documentElement.clientWidth <= wide && [...document.querySelectorAll('.plot')].every((plot) => Math.abs(plot.clientWidth - plot.querySelector('.uplot').clientWidth) < 2), width);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
        await shot(page, `${name}-${width}x${height}-${scheme}`);
      }
      await assertAccessible(page);
    }));
  }
}

test('an event has an address of its own', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('events?type=DECISION&dependency=payments-api'));
  await page.locator('.event .when').first().click();
  await page.getByText('Latency').or(page.getByText('throughput')).first().waitFor();
  assert.match(new URL(page.url()).pathname, /\/ui\/events\/418-\d+$/);
  await page.getByRole('region', { name: 'Inputs' }).getByText(/baseline of 11 ms/).waitFor();
  await shot(page, 'event-1280x720-light');
  await assertAccessible(page);
  const again = await visitor.open(page.url());
  await again.getByRole('region', { name: 'Inputs' }).waitFor();
}));

test('why a call is refused takes three steps: open, click the red number, read', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url());
  await page.getByRole('link', { name: /calls per second are refused: why\?/ }).first().click();
  const why = page.getByRole('region', { name: 'Why are calls refused?' });
  await why.getByText(/[\d.]+ calls\/s to payments-api are refused\. Of its 8 instances, the algorithm decides for 1, the quota decides for 7\./).waitFor();
  await why.getByText(/In the last minute [\d,]+ of [\d,]+ calls were refused\./).waitFor();
  const answer = why.locator('.answer');
  await answer.getByText(/The quota decides: its share is \d+ of 50, and it could use \d+\./).waitFor();
  await answer.getByText(/The limit (is|was) used up/).waitFor();
  await answer.getByText(/Since .* because shares moved between instances \(QUOTA_REBALANCED\)\./).waitFor();
  assert.match(await answer.innerText(), /What to do\s+(If payments-api can take more: plimsoll set quota payments-api --capacity N|Do not raise the quota yet: payments-api is slow already)/);
  assert.match(await why.locator('.binds').innerText(), /quota\s*decides[\s\S]*share of checkout-\d is \d of 50/);
  assert.ok(await why.locator('.answer').evaluate((e) => e.getBoundingClientRect().bottom < innerHeight), 'the answer is seen without scrolling');
  await why.getByRole('link', { name: 'inputs' }).click();
  await page.getByRole('region', { name: 'Inputs' }).getByText('window_latency_seconds').waitFor();
}));

test('how many are refused now is what the status says, not the newest step of the history', async () => {
  class Over extends Story {
    dependency(index) {
      const d = super.dependency(index);
      return { ...d, status: { ...d.status, rejected_per_second: 0 } };
    }
  }
  const own = await new MockServer({ story: new Over() }).start();
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(own.url('dependencies/payments-api'));
    await page.getByText(/In the last minute [1-9][\d,]* of [\d,]+ calls were refused\./).waitFor();
    assert.equal(await page.getByText(/calls\/s to payments-api are refused\./).count(), 0);
    await page.goto(own.url());
    await page.getByRole('row').filter({ hasText: 'payments-api' }).locator('canvas, svg').first().waitFor();
    assert.equal(await page.locator('a.refused').count(), 0);
  });
  await own.stop();
});

test('what is only observed is not called refused', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url());
  const row = page.getByRole('row').filter({ hasText: 'geo-lookup' });
  await row.getByText('would be').waitFor();
  assert.equal(await row.locator('a.refused').count(), 0);
}));

test('another instance is explained on demand', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('dependencies/payments-api'));
  await page.getByRole('region', { name: 'Why are calls refused?' }).getByRole('combobox').selectOption('checkout-4');
  await page.locator('.ladder .binds').filter({ hasText: 'algorithm' }).waitFor();
  assert.match(page.url(), /instance=checkout-4/);
}));

test('a mark on the graph tells its sentence and leads to its event', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('dependencies/payments-api'));
  const plot = page.locator('.chart').first().locator('.u-over');
  await plot.waitFor();
  await page.locator('.feed li').first().waitFor();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const tip = page.locator('.tip').first();
  for (let x = box.width - 2; x > 0 && !(await tip.isVisible()); x -= 8) await page.mouse.move(box.x + x, box.y + 60);
  assert.match(await tip.innerText(), /payments-api: \d+ → \d+/);
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForURL(/\/ui\/events\/418-/);
}));

test('marks are reached by the keyboard: Tab once, then arrows; each tells its sentence and leads to its event', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('dependencies/payments-api'));
  const marks = page.getByRole('group', { name: /Decisions on the graph/ }).getByRole('link');
  await marks.last().waitFor({ state: 'attached' });
  await page.getByRole('button', { name: '1 h' }).focus();
  await page.keyboard.press('Tab');
  const first = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  assert.match(first, /^\d\d:\d\d:\d\d payments-api: \d+ → \d+/);
  const tip = page.locator('.tip').first();
  assert.equal(await tip.innerText(), first);
  await page.keyboard.press('ArrowLeft');
  const second = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  assert.notEqual(second, first);
  assert.equal(await tip.innerText(), second);
  assert.equal(await page.locator('.feed li.marked').count(), 1, 'the list shows which it is');
  await shot(page, 'mark-1280x720-light');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/ui\/events\/418-/);
}));

test('the graph tells what its lines are, and names floor and quota beside it', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('dependencies/payments-api'));
  const legend = page.locator('.legend').first();
  await page.waitForFunction(() => /\d/.test(document.querySelector('.legend b')?.textContent ?? ''));
  const text = await legend.innerText();
  for (const part of [/in flight\s+\d+/, /limit \(enforced\)\s+\d+/, /algorithm\s+\d+/, /quota\s+50/, /floor to ceiling\s+16 – 512/, /decisions/]) assert.match(text, part);
}));

test('an operator evicts an instance after a second look; it is gone, and noted', async () => {
  const own = await new MockServer().start();
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(own.url('instances?dependency=payments-api'));
    await page.getByRole('button', { name: 'Evict checkout-3…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Evict checkout-3' });
    await dialog.getByText(/What it holds stays reserved until its hold ends/).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Leave it', 'the harmless button has the focus');
    await assertAccessible(page);
    await shot(page, 'evict-1280x720-light');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(own.story.evicted.size, 0);
    await page.getByRole('button', { name: 'Evict checkout-3…' }).click();
    await dialog.getByRole('button', { name: 'Evict checkout-3' }).click();
    await page.getByText('checkout-3 of checkout is evicted; its share stays reserved until its holds end.').waitFor();
    assert.ok(own.requests.includes('DELETE /v1/instances/checkout-3?service=checkout'));
    await page.getByRole('button', { name: 'Evict checkout-3…' }).waitFor({ state: 'detached' });
    await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
    const audit = page.getByRole('table', { name: 'Changes by people' });
    await audit.getByText('evict instance').waitFor();
    await audit.getByText('"reason":"INC-12 failover"').waitFor();
  });
  await own.stop();
});

test('what waits for a restart is marked in the settings, and who may do what is listed without secrets', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('config'));
  await page.getByRole('row').filter({ hasText: 'listen.api' }).getByText('waits for a restart').waitFor();
  await page.getByText('listen.api 127.0.0.1:7480 → 127.0.0.1:7490').waitFor();
  const access = page.getByRole('table', { name: 'Who may do what' });
  await access.getByRole('row').filter({ hasText: 'checkout-agents' }).getByText('agent', { exact: true }).waitFor();
}));

test('the longest names break nothing', async () => {
  const long = await new MockServer({ long: true }).start();
  for (const width of [1280, 390]) {
    await visit(browser, { width }, async (visitor) => {
      for (const [name, path] of [['fleet', ''], ['dependency', 'dependencies/payments-api-of-the-second-datacentre-of-the-second-datacentre'], ['instances', 'instances'], ['quota', 'quota'], ['events', 'events']]) {
        const page = await visitor.open(long.url(path));
        await page.getByText('payments-api-of-the-second').locator('visible=true').first().waitFor();
        await page.waitForFunction(() => !document.querySelector('.skeleton'));
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(overflow <= 0, `${name} at ${width} is ${overflow} pixels too wide`);
        await shot(page, `long-${name}-${width}-light`);
        await page.close();
      }
    });
  }
  await long.stop();
});

test('below a base path every address stays below it', async () => {
  const proxied = await new MockServer({ prefix: '/plimsoll' }).start();
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(proxied.url());
    for (const name of ['Instances', 'Quota', 'Events', 'Configuration', 'Fleet']) {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    await page.getByRole('link', { name: 'payments-api' }).first().click();
    await page.locator('.chart canvas').first().waitFor();
    await page.reload();
    await page.locator('.chart canvas').first().waitFor();
  });
  const outside = proxied.requests.filter((line) => !line.split(' ')[1].startsWith('/plimsoll/'));
  assert.deepEqual(outside, []);
  await proxied.stop();
});

test('the keyboard is enough', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url());
  await page.getByRole('link', { name: 'payments-api' }).first().waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  for (const [keys, title] of [['gi', 'Instances'], ['gq', 'Quota'], ['ge', 'Events'], ['gc', 'Configuration'], ['gf', 'Fleet']]) {
    await page.keyboard.type(keys);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Help' }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('fraud');
  await page.getByRole('option', { name: /fraud-score/ }).waitFor();
  await assertAccessible(page);
  await shot(page, 'search-1280x720-light');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'fraud-score', level: 1 }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
  // From the heading to the override's form by Tab alone.
  for (let i = 0; i < 120; i += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => document.activeElement.closest('form.form') !== null)) return;
  }
  assert.fail('the form was not reached by Tab');
}));

test('the keyboard alone leads from the fleet to the reason of a refusal', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url());
  await page.locator('a.refused').first().waitFor();
  const focused = () => page.evaluate(() => document.activeElement.className);
  for (let i = 0; i < 60 && (await focused()) !== 'refused'; i += 1) await page.keyboard.press('Tab');
  assert.equal(await focused(), 'refused', 'Tab reaches the red number');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Why are calls refused?' }).getByText('What to do').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'reading begins at the top of the page');
}));

test('two thousand rows are drawn as far as they are seen', async () => {
  const large = await new MockServer({ story: new Story({ instances: 2000 }) }).start();
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(large.url('instances'));
    const table = page.getByRole('table', { name: 'Limits of instances' });
    await table.waitFor();
    assert.ok(Number(await table.getAttribute('aria-rowcount')) > 2000);
    assert.ok((await table.locator('tbody tr').count()) < 120);
    await page.evaluate(() => window.scrollTo(0, 40_000));
    await page.waitForFunction(() => [...document.querySelectorAll('tbody tr[aria-rowindex]')].some((row) => Number(row.getAttribute('aria-rowindex')) > 900
      && row.getBoundingClientRect().top > 0 && row.getBoundingClientRect().top < innerHeight));
    assert.ok((await table.locator('tbody tr').count()) < 120);
    await page.getByLabel('Filter').fill('checkout-1999');
    await page.getByRole('link', { name: 'checkout-1999' }).waitFor();
    assert.match(page.url(), /q=checkout-1999/);
  });
  await large.stop();
});

test('rows can be taken along as CSV', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('instances?dependency=payments-api'));
  await page.locator('tbody tr').first().waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString().trim().split('\n');
  assert.match(lines[0], /^dependency,service,instance_id,mode,enforced/);
  assert.equal(lines.length, 9);
}));

test('quotas can be looked at as they were', () => visit(browser, {}, async (visitor) => {
  const page = await visitor.open(mock.url('quota'));
  const slider = page.getByRole('slider', { name: 'Look back at payments-api' });
  await slider.focus();
  await page.keyboard.press('Home');
  await page.getByText(/Who held what is shown for now only/).waitFor();
  await page.getByRole('button', { name: 'Back to now' }).click();
  await page.getByRole('cell', { name: 'checkout-7' }).waitFor();
}));
