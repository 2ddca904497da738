// What the console shows when not all is well, and what it lets operators do.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible, launch, shot, visit } from './browser.mjs';
import { MockServer } from './mock_server.mjs';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

async function withMock(options, work) {
  const mock = await new MockServer(options).start();
  try {
    await work(mock);
  } finally {
    await mock.stop().catch(() => {});
  }
}
const NETWORK = [/ERR_(CONNECTION|INCOMPLETE|EMPTY|SOCKET|NETWORK|FAILED)/];
const status = (...codes) => codes.map((code) => new RegExp(`status of ${code}`));

test('a broken stream shows, dead numbers turn grey with their age, and all comes back', () => withMock({}, async (mock) => {
  await visit(browser, { allowed: [...NETWORK, ...status(503)] }, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.locator('.live.live').waitFor();
    mock.options.streams = 0;
    mock.cut();
    await page.getByRole('alert').filter({ hasText: 'event stream broke' }).waitFor();
    await page.locator('.live.polling').waitFor();
    const { port } = mock;
    await mock.stop();
    await page.getByRole('alert').filter({ hasText: /No answer from the controller for (< 1|\d+) s\. The numbers below are from \d\d:\d\d:\d\d/ }).waitFor();
    await page.locator('main.stale').waitFor();
    assert.match(await page.locator('main.stale .stats dd').first().evaluate((e) => getComputedStyle(e).filter), /grayscale/);
    assert.equal(await page.locator('.top .live').innerText(), 'stale');
    await shot(page, 'stale-1280x720-light');
    const back = await new MockServer({}).start(port);
    await page.locator('main:not(.stale)').waitFor();
    await page.locator('.live.live').waitFor();
    assert.equal(await page.locator('.banner').count(), 0);
    await back.stop();
  });
}));

test('a stream that breaks is opened again from where it was', () => withMock({}, async (mock) => {
  await visit(browser, { allowed: NETWORK }, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.locator('.live.live').waitFor();
    const resumed = new Promise((done) => {
      mock.server.on('request', (request) => { if (request.headers['last-event-id']) done(request.headers['last-event-id']); });
    });
    mock.broadcast('limit', { dependency: 'payments-api' });
    const asked = page.waitForRequest(/\/v1\/dependencies\?/);
    await asked;
    mock.cut();
    assert.match(await resumed, /^418-\d+$/);
    await page.locator('.live.live').waitFor();
  });
}));

test('a storm of events neither starves the readings nor multiplies them', () => withMock({}, async (mock) => {
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.locator('.live.live').waitFor();
    const storm = setInterval(() => mock.broadcast('limit', { dependency: 'payments-api' }), 40);
    const read = () => page.waitForRequest(/\/v1\/dependencies\?/).then(() => Date.now());
    const times = [];
    try {
      for (let i = 0; i < 4; i += 1) times.push(await read());
    } finally {
      clearInterval(storm);
    }
    const [, first, , third] = times;
    assert.ok(third - first > 1500, `three readings within ${third - first} ms`);
    assert.ok(third - first < 9000, `three readings took ${third - first} ms: no faster than without events`);
  });
}));

test('without a free stream it polls, and says so', () => withMock({ streams: 0 }, async (mock) => {
  await visit(browser, { allowed: status(503) }, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.locator('.live.polling').waitFor();
    const tagged = page.waitForRequest((request) => request.url().endsWith('/v1/status') && Boolean(request.headers()['if-none-match']));
    await tagged;
    await page.waitForRequest(/\/v1\/dependencies\?/);
    assert.equal(await page.locator('.banner').count(), 0);
  });
}));

test('two tabs share a stream', () => withMock({}, async (mock) => {
  await visit(browser, {}, async (visitor) => {
    const first = await visitor.open(mock.url());
    await first.locator('.live.live').waitFor();
    const second = await visitor.open(mock.url('events'));
    await second.locator('.live.live').waitFor();
    assert.equal(mock.open.size, 1);
    await first.close();
    await second.waitForFunction(() => document.querySelector('.live.live'));
  });
}));

test('a tab that is hidden for half a minute leaves the stream to another', () => withMock({}, async (mock) => {
  await visit(browser, {}, async (visitor) => {
    const first = await visitor.open(mock.url());
    await first.locator('.live.live').waitFor();
    await first.clock.install();
    await first.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const second = await visitor.open(mock.url('events'));
    await second.locator('.live.live').waitFor();
    const [stream] = mock.open;
    const closed = new Promise((done) => { stream.on('close', done); });
    const taken = second.waitForRequest(/\/v1\/watch/);
    await first.clock.fastForward(31_000);
    await closed;
    await taken;
    await second.locator('.live.live').waitFor();
    assert.equal(mock.open.size, 1);
  });
}));

test('a token is asked for, kept in the tab, and sent in no address', () => withMock({ token: 's3cret' }, async (mock) => {
  await visit(browser, { allowed: status(401) }, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.getByText('A token is needed').waitFor();
    await page.getByText('ask who runs the controller for one').first().waitFor();
    await assertAccessible(page);
    await shot(page, 'token-1280x720-light');
    await page.getByLabel('Token').first().fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The token was not accepted').first().waitFor();
    await page.getByLabel('Token').first().fill('s3cret');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'payments-api' }).first().waitFor();
    assert.equal(await page.evaluate(() => JSON.stringify(localStorage)), '{}');
    assert.equal(await page.evaluate(() => sessionStorage.getItem('plimsoll.token')), 's3cret');
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const shell = await page.locator('.pop pre').innerText();
    assert.match(shell, /^curl -s -H "Authorization: Bearer \$PLIMSOLL_TOKEN" 'http:\/\/127\.0\.0\.1:\d+\/v1\/status'/);
    assert.ok(!shell.includes('s3cret'));
    assert.ok(mock.requests.every((line) => !line.includes('s3cret')));
  });
}));

test('a refusal tells its detail, hint and request', () => withMock({}, async (mock) => {
  mock.failing = [500, 'INTERNAL', 'the server failed', 'look into its log for the request'];
  await visit(browser, { allowed: status(500) }, async (visitor) => {
    const page = await visitor.open(mock.url('events'));
    const alert = page.getByRole('alert').filter({ hasText: 'the server failed' });
    await alert.waitFor();
    assert.match(await alert.innerText(), /look into its log for the request[\s\S]*INTERNAL · request 01K8/);
    await shot(page, 'error-1280x720-light');
    await assertAccessible(page);
    mock.failing = null;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.event').first().waitFor();
    mock.failing = [503, 'STORE_UNAVAILABLE', 'the store does not answer'];
    visitor.allowed.push(...status(503));
    await page.getByText(/Could not be read again: the store does not answer/).waitFor();
    assert.ok(await page.locator('.event').first().isVisible(), 'what was there stays');
  });
}));

test('what does not exist is said to be so', () => withMock({}, async (mock) => {
  await visit(browser, { allowed: status(404) }, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/nothing'));
    await page.getByText("there is no dependency 'nothing'").waitFor();
    const other = await visitor.open(mock.url('no/such/page/here'));
    await other.getByText('There is no such page').waitFor();
  });
}));

test('while it waits it says so, and an empty fleet is told the next step', () => withMock({ empty: true }, async (mock) => {
  const release = mock.hold();
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.getByText('Loading…').first().waitFor();
    release();
    await page.getByText('No dependency is configured').waitFor();
    await page.getByText('TryAcquire').waitFor();
    await assertAccessible(page);
    await shot(page, 'empty-1280x720-light');
    for (const [path, text] of [['instances', 'No agent has joined'], ['quota', 'No dependency has a quota'], ['events', 'No event fits']]) {
      const other = await visitor.open(mock.url(path));
      await other.getByText(text).waitFor();
      await other.close();
    }
  });
}));

test('an older controller without history, advice and stream is shown all the same', () => withMock({ off: ['/v1/timeseries', '/v1/sizing', '/v1/watch', '/v1/config', '/v1/audit'] }, async (mock) => {
  await visit(browser, { allowed: status(404) }, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/payments-api'));
    await page.getByText('the graphs begin when this page was opened').waitFor();
    await page.locator('.live.polling').waitFor();
    await page.waitForFunction(() => !document.querySelector('.legend b').textContent.includes('–'));
    assert.equal(await page.getByText('Sizing advice').count(), 0);
    const config = await visitor.open(mock.url('config'));
    await config.getByText('This controller does not tell its settings').waitFor();
    const events = await visitor.open(mock.url('events'));
    await events.locator('.event').first().waitFor();
    assert.equal(await events.getByText('Changes by people').count(), 0);
  });
}));

test('an operator pins a limit for a reason and a time, and clears it', () => withMock({}, async (mock) => {
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/payments-api'));
    const panel = page.getByRole('region', { name: 'Operate' });
    await panel.getByLabel('Limit', { exact: true }).fill('10');
    await panel.getByRole('button', { name: 'Set the override' }).click();
    assert.equal(mock.story.overrides.has('payments-api'), false, 'without a reason nothing is sent');
    await panel.getByLabel('Reason').fill('INC-12 failover');
    await panel.getByRole('combobox').selectOption('14400');
    await panel.getByRole('button', { name: 'Set the override' }).click();
    await panel.getByText('Pinned to 10').waitFor();
    const sent = mock.story.overrides.get('payments-api');
    assert.equal(sent.limit, 10);
    assert.equal(sent.reason, 'INC-12 failover');
    assert.ok(Math.abs(Date.parse(sent.expire_time) - Date.now() - 14_400_000) < 60_000);
    await assertAccessible(page);
    await panel.getByRole('button', { name: 'Clear the override' }).click();
    assert.ok(mock.story.overrides.has('payments-api'), 'one press is not enough');
    await panel.getByRole('button', { name: 'Press again to clear' }).click();
    await panel.getByText('The override is gone.').waitFor();
    assert.equal(mock.story.overrides.has('payments-api'), false);
    await panel.getByLabel('observe: refuse nothing').check();
    await panel.getByRole('button', { name: 'Set the override' }).click();
    await panel.getByText('Mode observe').waitFor();
    await panel.getByRole('button', { name: 'Reset what was learned' }).click();
    await panel.getByRole('button', { name: 'Press again to reset' }).click();
    await panel.getByText('It starts from the initial limit again.').waitFor();
  });
}));

test('who may not change anything is told so, and may show another token', () => withMock({}, async (mock) => {
  await visit(browser, { allowed: status(403) }, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/payments-api'));
    const panel = page.getByRole('region', { name: 'Operate' });
    await panel.getByLabel('Limit', { exact: true }).fill('13');
    await panel.getByLabel('Reason').fill('a test');
    await panel.getByRole('button', { name: 'Set the override' }).click();
    await panel.getByText('Not with this role').waitFor();
    await panel.getByText('needs the role operator; your token has viewer').waitFor();
    assert.ok(await panel.getByLabel('Token').isVisible());
  });
}));

test('a viewer sees no button that leads nowhere, and how to become an operator', () => withMock({ role: 'viewer' }, async (mock) => {
  await visit(browser, { allowed: status(403) }, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/fraud-score'));
    const panel = page.getByRole('region', { name: 'Operate' });
    await panel.getByText('You may look, but not change anything here.').waitFor();
    await panel.getByText(/Pinned to 4.*INC-12 failover/).waitFor();
    assert.equal(await panel.getByRole('button').count(), 0);
    await assertAccessible(page);
    await shot(page, 'viewer-1280x720-light');
    const instances = await visitor.open(mock.url('instances'));
    await instances.locator('tbody tr').first().waitFor();
    assert.equal(await instances.getByRole('button', { name: /Evict/ }).count(), 0);
    await panel.getByRole('link', { name: 'Show a token with the role operator' }).click();
    await page.getByText('Not with this role').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Reload the file' }).count(), 0);
    mock.options.role = 'operator';
    await page.getByLabel('Token').fill('of an operator');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Reload the file' }).waitFor();
    const events = await visitor.open(mock.url('events'));
    await events.getByRole('table', { name: 'Changes by people' }).waitFor();
  });
}));

test('refusals of changes are told in words', () => withMock({}, async (mock) => {
  const cases = [
    [[409, 'MANAGED_BY_FILE', 'payments-api is in the configuration file: change it there and reload, or set an override'], /It cannot be changed this way[\s\S]*change it there and reload/],
    [[412, 'ETAG_MISMATCH', 'it has changed since: read it again, and decide anew'], /Somebody else changed it first[\s\S]*Nothing was changed\. What stands here is the newest/],
    [[429, 'RATE_LIMITED', 'more requests than one caller may send', '', { 'Retry-After': '7' }], /Too many requests[\s\S]*Nothing was changed\. Try again in 7 s\./],
  ];
  await visit(browser, { allowed: status(409, 412, 429) }, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/payments-api'));
    const panel = page.getByRole('region', { name: 'Operate' });
    await panel.getByLabel('Reason').fill('a test');
    for (const [refusal, words] of cases) {
      mock.options.refuse = refusal;
      await panel.getByRole('button', { name: 'Set the override' }).click();
      const alert = panel.getByRole('alert').filter({ hasText: refusal[1] });
      await alert.waitFor();
      assert.match(await alert.innerText(), words);
    }
    await assertAccessible(page);
    const instances = await visitor.open(mock.url('instances?dependency=payments-api'));
    await instances.getByRole('button', { name: 'Evict checkout-1…' }).click();
    await instances.getByRole('dialog').getByRole('button', { name: 'Evict checkout-1' }).click();
    await instances.getByRole('dialog').getByRole('alert').filter({ hasText: 'Try again in 7 s.' }).waitFor();
  });
}));

test('an override that somebody else has replaced is not overwritten unseen', () => withMock({}, async (mock) => {
  await visit(browser, { allowed: status(412) }, async (visitor) => {
    const page = await visitor.open(mock.url('dependencies/fraud-score'));
    const panel = page.getByRole('region', { name: 'Operate' });
    await panel.getByText('Pinned to 4').waitFor();
    await panel.getByLabel('Reason').fill('a test');
    const release = mock.hold();
    mock.story.overrides.set('fraud-score', { ...mock.story.overrides.get('fraud-score'), limit: 7, set_by: 'bob', revision: 'overrides.99' });
    await panel.getByRole('button', { name: 'Replace the override' }).click();
    release();
    await panel.getByText('Somebody else changed it first').waitFor();
    await panel.getByText(/Pinned to 7 by bob/).waitFor();
    assert.equal(mock.story.overrides.get('fraud-score').limit, 7);
  });
}));

test('a configuration that was refused is told with its place', () => withMock({}, async (mock) => {
  await visit(browser, { allowed: status(400) }, async (visitor) => {
    const page = await visitor.open(mock.url('config'));
    await page.getByRole('button', { name: 'Reload the file' }).click();
    await page.getByText(/plimsoll-controller.yaml:14:5: .*did you mean "ceiling"/).waitFor();
  });
}));

test('the colours can be chosen, and stay', () => withMock({}, async (mock) => {
  await visit(browser, {}, async (visitor) => {
    const page = await visitor.open(mock.url());
    await page.getByRole('button', { name: /Colours: auto/ }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.reload();
    await page.locator('main h1').waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  });
}));
