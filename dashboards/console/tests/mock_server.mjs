// Speaks the API as far as the console asks, with the fleet of story.mjs, and serves the built console
// as the controller does. By hand: npm run mock, then open the address that it prints.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Story } from './story.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml', txt: 'text/plain; charset=utf-8' };
// As long as names may be.
const LONG = [['payments-api', 'payments-api-of-the-second-datacentre-of-the-second-datacentre'], ['checkout-', `checkout-${'canary-deployment-'.repeat(2)}7d9f-`]];
const POLICY = "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

// Options: prefix ('' or '/plimsoll'), token, role (viewer or operator), streams (how many at once), dist, story, off (paths that are
// 404), empty, refuse (a problem that every change is), long (names as long as they may be).
export class MockServer {
  constructor(options = {}) {
    this.options = { prefix: '', token: '', role: 'operator', refuse: null, long: false, streams: 10, dist: join(here, '../dist'), off: [], empty: false, ...options };
    this.story = options.story ?? new Story();
    this.open = new Set();
    this.requests = [];
    this.failing = null; // a problem that every answer is
    this.held = null; // a promise that answers wait for
    this.sequence = 100;
    this.server = createServer((request, response) => this.handle(request, response));
  }

  async start(port = 0) {
    await new Promise((done) => { this.server.listen(port, '127.0.0.1', done); });
    this.port = this.server.address().port;
    this.ticker = setInterval(() => this.broadcast('limit', { dependency: 'payments-api' }), 3000);
    return this;
  }
  url(path = '') { return `http://127.0.0.1:${this.port}${this.options.prefix}/ui/${path}`; }
  async stop() {
    clearInterval(this.ticker);
    this.server.closeAllConnections();
    await new Promise((done) => { this.server.close(done); });
  }
  // Keeps answers back until what it returns is called.
  hold() {
    let release;
    this.held = new Promise((done) => { release = done; });
    return () => { this.held = null; release(); };
  }
  // Ends the streams, as a broken network would.
  cut() { for (const stream of this.open) stream.destroy(); }
  broadcast(event, data) {
    this.sequence += 1;
    for (const stream of this.open) stream.write(`id: 418-${this.sequence}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  async handle(request, response) {
    const asked = this.options.long ? LONG.reduce((text, [short, long]) => text.replaceAll(long, short), request.url) : request.url;
    const url = new URL(asked, 'http://mock');
    this.requests.push(`${request.method} ${url.pathname}${url.search}`);
    const { prefix } = this.options;
    if (!url.pathname.startsWith(`${prefix}/`)) return this.problem(response, 404, 'NOT_FOUND', 'there is no such address here');
    const path = url.pathname.slice(prefix.length);
    if (path === '/' || path === '/ui') return response.writeHead(302, { Location: `${prefix}/ui/` }).end();
    if (path.startsWith('/ui/')) return this.console(path.slice(4), response);
    await this.held;
    if (this.failing) return this.problem(response, ...this.failing);
    if (this.options.token && request.headers.authorization !== `Bearer ${this.options.token}`) {
      response.setHeader('WWW-Authenticate', 'Bearer realm="plimsoll"');
      return this.problem(response, 401, 'UNAUTHENTICATED', 'this address needs a token', 'ask who runs the controller for one');
    }
    const change = !['GET', 'HEAD'].includes(request.method) && !path.endsWith(':explain');
    if (this.options.role === 'viewer' && (change || path === '/v1/config' || path === '/v1/audit')) {
      return this.problem(response, 403, 'PERMISSION_DENIED', 'this needs the role operator; your token has viewer', 'use the token of an operator');
    }
    if (change && this.options.refuse) return this.problem(response, ...this.options.refuse);
    if (this.options.off.some((part) => path.startsWith(part))) return this.problem(response, 404, 'NOT_FOUND', 'there is no such address here');
    let body = '';
    for await (const chunk of request) body += chunk;
    return this.api(request, response, path, url.searchParams, body ? JSON.parse(body) : null);
  }

  console(path, response) {
    const common = { 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
    if (path.startsWith('assets/')) {
      const file = join(this.options.dist, path);
      if (path.includes('..') || !existsSync(file)) return this.problem(response, 404, 'NOT_FOUND', 'the console has no such file');
      return response.writeHead(200, { ...common, 'Content-Type': TYPES[path.split('.').pop()], 'Content-Encoding': 'gzip', 'Cache-Control': 'public, max-age=31536000, immutable' }).end(gzipSync(readFileSync(file)));
    }
    const page = readFileSync(join(this.options.dist, 'index.html'), 'utf8').replace('<base href="/ui/">', `<base href="${this.options.prefix}/ui/">`);
    return response.writeHead(200, { ...common, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' }).end(page);
  }

  problem(response, status, code, detail, hint = '', more = {}) {
    const id = `01K8${String(this.requests.length).padStart(6, '0')}`;
    response.writeHead(status, { 'Content-Type': 'application/problem+json', 'X-Request-Id': id, ...more });
    response.end(JSON.stringify({ type: `urn:plimsoll:problem:${code.toLowerCase()}`, title: code, status, code, detail, hint, request_id: id }));
  }

  json(request, response, data, status = 200) {
    const plain = JSON.stringify(data);
    const text = this.options.long ? LONG.reduce((all, [short, long]) => all.replaceAll(short, long), plain) : plain;
    const etag = `"${createHash('sha1').update(text).digest('hex').slice(0, 12)}"`;
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { ETag: etag }).end();
    return response.writeHead(status, { 'Content-Type': 'application/json', ETag: etag, 'X-Request-Id': 'mock' }).end(text);
  }

  page(request, response, rows, parameters) {
    const size = Math.min(1000, Number(parameters.get('page_size') ?? 100));
    const from = Number(parameters.get('page_token') ?? 0);
    const items = this.options.empty ? [] : rows.slice(from, from + size);
    return this.json(request, response, { items, next_page_token: !this.options.empty && from + size < rows.length ? String(from + size) : '' });
  }

  watch(request, response) {
    if (this.open.size >= this.options.streams) return this.problem(response, 503, 'WATCHERS_EXHAUSTED', 'all event streams are taken', '', { 'Retry-After': '5' });
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write('retry: 2000\n\n: hello\n\n');
    this.open.add(response);
    response.on('close', () => this.open.delete(response));
    return undefined;
  }

  api(request, response, path, parameters, body) {
    const { story } = this;
    const equal = (row, ...names) => names.every((name) => !parameters.get(name) || row[name] === parameters.get(name));
    if (path === '/v1/status') return this.json(request, response, story.status());
    if (path === '/v1/watch') return this.watch(request, response);
    if (path === '/v1/dependencies') return this.page(request, response, story.dependencies(), parameters);
    if (path === '/v1/limits') return this.page(request, response, story.limits().filter((row) => equal(row, 'dependency', 'service', 'instance_id')), parameters);
    if (path === '/v1/instances') return this.page(request, response, story.agents(), parameters);
    if (path === '/v1/events') return this.page(request, response, story.events().filter((row) => equal(row, 'dependency', 'instance_id', 'type', 'reason')), parameters);
    if (path === '/v1/audit') return this.page(request, response, story.audit, parameters);
    const agent = path.match(/^\/v1\/instances\/([^/]+)$/);
    if (agent && request.method === 'DELETE') {
      if (!story.evict(decodeURIComponent(agent[1]), parameters.get('service'))) return this.problem(response, 404, 'NOT_FOUND', `there is no instance '${agent[1]}'`);
      return response.writeHead(204).end();
    }
    if (path === '/v1/sizing') return this.json(request, response, story.sizing());
    if (path === '/v1/config') return this.json(request, response, story.config());
    if (path === '/v1/config/status') return this.json(request, response, story.configStatus());
    if (path === '/v1/config:reload') return this.problem(response, 400, 'CONFIG_INVALID', 'plimsoll-controller.yaml:14:5: /dependencies/0/celing: unknown key (did you mean "ceiling"?)', 'mend the file and reload; the configuration from before stays in force');
    if (path === '/v1/timeseries') {
      const name = parameters.get('dependency') ?? '';
      if (!story.has(name)) return this.problem(response, 404, 'NOT_FOUND', `there is no dependency '${name}'`);
      return this.json(request, response, story.timeseries(name, parameters.get('metric').split(','), Date.parse(parameters.get('since') ?? '') / 1000 || 0));
    }
    const event = path.match(/^\/v1\/events\/(.+)$/);
    if (event) {
      const found = story.events().find((e) => e.id === decodeURIComponent(event[1]));
      return found ? this.json(request, response, found) : this.problem(response, 404, 'NOT_FOUND', `there is no event '${event[1]}'`);
    }
    const one = path.match(/^\/v1\/dependencies\/([^/:]+)(\/quota|\/override|:reset|:explain)?$/);
    if (!one) return this.problem(response, 404, 'NOT_FOUND', 'there is no such address here');
    return this.dependency(request, response, decodeURIComponent(one[1]), one[2] ?? '', body);
  }

  dependency(request, response, name, part, body) {
    const { story } = this;
    const index = story.names().indexOf(name);
    if (index < 0) return this.problem(response, 404, 'NOT_FOUND', `there is no dependency '${name}'`);
    if (part === '/quota') return this.json(request, response, story.quota(index));
    if (part === ':explain') return this.json(request, response, story.explain(name, body?.instance_id));
    if (part === ':reset') return this.json(request, response, story.dependency(index));
    if (part === '/override' && request.method === 'PUT') {
      const match = request.headers['if-match'];
      const now = story.overrides.get(name)?.revision;
      if (match && match !== `"${now}"`) return this.problem(response, 412, 'ETAG_MISMATCH', 'it has changed since: read it again, and decide anew');
      if (body.limit === 13) return this.problem(response, 403, 'PERMISSION_DENIED', 'changing overrides needs the role operator; your token has viewer');
      story.overrides.set(name, { dependency: name, limit: body.limit ?? null, mode: body.mode ?? null, reason: body.reason, set_by: 'alice', expire_time: body.expire_time, revision: `overrides.${this.sequence += 1}` });
      this.broadcast('event', { type: 'OVERRIDE_SET' });
      return this.json(request, response, story.overrides.get(name), 201);
    }
    if (part === '/override' && request.method === 'DELETE') {
      story.overrides.delete(name);
      this.broadcast('event', { type: 'OVERRIDE_CLEARED' });
      return response.writeHead(204).end();
    }
    return this.json(request, response, story.dependency(index));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = await new MockServer({ token: process.env.TOKEN ?? '' }).start(Number(process.env.PORT ?? 7480));
  console.log(`the console, with a fleet that does not exist: ${mock.url()}`);
}
