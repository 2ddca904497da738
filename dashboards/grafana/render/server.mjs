// The page that draws dashboards, on a loopback port that the system chooses: www/, the dashboards' JSON below /dashboards/,
// and Prometheus below /prometheus/.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const kTypes = { '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.html': 'text/html' };

function fileOf(name) {
  const dashboard = /^\/dashboards\/([a-z-]+)\.json$/.exec(name);
  if (dashboard) return path.join(here, '../json', dashboard[1] + '.json');
  if (name === '/') return path.join(here, 'www/index.html');
  return /^\/generated\/[a-z.]+$/.test(name) ? path.join(here, '../../../build/dashboards', path.basename(name)) : '';
}

async function proxy(prometheus, request, response) {
  try {
    const answer = await fetch(prometheus + request.url.slice('/prometheus'.length));
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  } catch (e) { response.writeHead(502).end(String(e)); }
}

/** @returns {Promise<{url: string, close: () => void}>} */
export function serve(prometheus, port = 0) {
  const server = http.createServer((request, response) => {
    const name = request.url.split('?')[0];
    if (name.startsWith('/prometheus/api/v1/')) return void proxy(prometheus, request, response);
    const file = fileOf(name);
    if (!file || !fs.existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': kTypes[path.extname(file)] ?? 'text/plain' }).end(fs.readFileSync(file));
  });
  return new Promise(done => server.listen(port, '127.0.0.1', () =>
    done({ url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() })));
}
