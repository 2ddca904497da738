// Starts a controller, asks it for everything that api/openapi.yaml describes, and holds the answers
// against the description.
//   node contract.mjs PLIMSOLL-CONTROLLER NOT_MERGED.JSON
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const [controller, notMergedPath] = process.argv.slice(2);
const notMerged = new Set(JSON.parse(readFileSync(notMergedPath, "utf8")));
const folder = mkdtempSync(join(tmpdir(), "plimsoll-contract-"));

const config = `
listen: {api: "127.0.0.1:0", agents: "127.0.0.1:0"}
api: {watchers_max: 1}
dependencies:
  - {name: payments-db, quota: {capacity: 50}, call_deadline: 1s}
  - {name: orders-db}
`;

// One per operation, in this order. `path` has the values for the path's parameters; what is expected
// is a status of the description, `status` if it is given.
const soon = () => new Date(Date.now() + 3_600_000).toISOString();
const cases = {
  getLivez: { query: "verbose" },
  getReadyz: { query: "verbose" },
  getMetrics: {},
  getVersion: {},
  getStatus: {},
  listDependencies: { query: "page_size=1" },
  getDependency: { path: ["payments-db"] },
  getQuota: { path: ["payments-db"] },
  listLimits: { query: "dependency=payments-db" },
  getLimit: { path: ["payments-db", "checkout-0"] },
  listInstances: {},
  getInstance: { path: ["checkout-0"] },
  listEvents: { query: "since=1h&page_size=1000" },
  getEvent: { path: () => [eventId] },
  getTimeseries: { query: "dependency=payments-db&since=15m&step=10s" },
  watch: { query: "topics=limits" },
  getOpenapi: {},
  getConfigSchema: {},
  getRoot: {},
  getConsoleRoot: {},
  getConsole: { path: ["index.html"] },
  getConsoleAsset: { path: () => [assetName] },
  getConfig: {},
  getConfigStatus: {},
  validateConfig: { body: config, type: "application/yaml" },
  putDependency: { path: ["new-db"], body: { name: "new-db", quota: { capacity: 10 } } },
  patchDependency: { path: ["new-db"], body: { ceiling: 5 }, type: "application/merge-patch+json" },
  putQuota: { path: ["new-db"], body: { capacity: 20 } },
  putOverride: {
    path: ["payments-db"],
    body: () => ({ limit: 10, reason: "contract test", expire_time: soon() }),
  },
  getSizing: {},
  getOverride: { path: ["payments-db"] },
  deleteOverride: { path: ["payments-db"] },
  listAudit: { query: "page_size=1" },
  resetDependency: { path: ["payments-db"] },
  explainLimit: { path: ["payments-db"], body: { instance_id: "checkout-0" } },
  deleteDependency: { path: ["new-db"] },
  evictInstance: { path: ["checkout-0"] },
  reloadConfig: {},
  reloadConfigAsPrometheus: {},
};
const refusals = [
  ["GET", "/v1/nothing", 404, "NOT_FOUND"],
  ["GET", "/v1/dependencies/nobody", 404, "NOT_FOUND"],
  ["DELETE", "/v1/status", 405, "METHOD_NOT_ALLOWED"],
  ["GET", "/v1/limits?dependancy=x", 400, "INVALID_ARGUMENT"],
  ["GET", "/v1/limits?page_token=x", 400, "PAGE_TOKEN_INVALID"],
  ["GET", "/v1/timeseries", 400, "INVALID_ARGUMENT"],
  ["GET", "/v1/watch?topics=x", 400, "INVALID_ARGUMENT"],
  ["GET", "/v1/audit?page_token=x", 400, "PAGE_TOKEN_INVALID"],
  ["GET", "/v1/status", 406, "NOT_ACCEPTABLE", { Accept: "text/html" }],
];

let api = "";
let agents = "";
let eventId = "";
let assetName = "";
let document = {};
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats(ajv);

function resolve(value) {
  if (!value.$ref) return value;
  const parts = value.$ref.slice(2).split("/");
  return parts.reduce((node, part) => node[part.replaceAll("~1", "/")], document);
}

function check(schema, value, what) {
  const validate = ajv.compile({ ...schema, components: document.components });
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`);
}

// The answer must be one of those that the operation may give, and look as it is described.
async function checkAnswer(operation, response, what) {
  const status = String(response.status);
  const described = operation.responses[status] ?? operation.responses.default;
  assert.ok(described, `${what}: ${status} is not described`);
  assert.ok(response.headers.get("x-request-id"), `${what}: no X-Request-Id`);
  const content = resolve(described).content;
  if (!content) return null;
  const type = response.headers.get("content-type").split(";")[0];
  assert.ok(content[type], `${what}: ${status} with ${type}, which is not described`);
  if (!type.includes("json")) return response.text();
  const body = await response.json();
  check(content[type].schema, body, what);
  return body;
}

async function checkStream(response) {
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body.getReader();
  const { value } = await reader.read();
  assert.match(new TextDecoder().decode(value), /^retry: 2000\nid: \S+\n\n/);
  const second = await fetch(`${api}/v1/watch`);
  assert.equal(second.status, 503);
  assert.equal(second.headers.get("retry-after"), "5");
  const problem = await checkAnswer(document.paths["/v1/watch"].get, second, "a stream too many");
  assert.equal(problem.code, "WATCHERS_EXHAUSTED");
  await reader.cancel();
}

// What controllers say that lead some of several shards; tests/integration sees them say it.
function checkPartialAnswers(all) {
  const partial = { partial: true, elsewhere: [{ shard: 1, api: "http://10.0.0.5:7480" }, { shard: 2, api: "" }] };
  const evicted = all.get("evictInstance").responses["200"].content["application/json"].schema;
  check(evicted, partial, "evicted from the shards that are led here");
  assert.throws(() => check(evicted, { partial: true }, ""), "without saying where the others are");
  const problem = { type: "urn:plimsoll:problem:not-found", title: "Not Found", status: 404, code: "NOT_FOUND",
    detail: "there is no instance 'a'", instance: "/v1/instances/a", request_id: "r" };
  const problems = resolve(all.get("evictInstance").responses.default).content["application/problem+json"].schema;
  check(problems, { ...problem, ...partial }, "not known here");
  assert.throws(() => check(problems, { ...problem, elsewhere: [{ shard: "1" }] }, ""), "a shard is a number");
}

function* operations() {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of ["get", "put", "patch", "post", "delete"]) {
      if (item[method]) yield { name: `${method.toUpperCase()} ${path}`, path, method, ...item[method] };
    }
  }
}

const value = (given) => (typeof given === "function" ? given() : given);

async function ask(operation, given) {
  const names = [...(value(given.path) ?? [])];
  const path = operation.path.replaceAll(/\{\w+\}/g, () => names.shift());
  const options = { method: operation.method.toUpperCase(), redirect: "manual" };
  if (given.body !== undefined) {
    const body = value(given.body);
    options.body = typeof body === "string" ? body : JSON.stringify(body);
    options.headers = { "Content-Type": given.type ?? "application/json" };
  }
  const url = api + path + (given.query ? `?${given.query}` : "");
  const response = await fetch(url, options);
  const what = `${operation.name} → ${response.status}`;
  assert.ok(response.status < 400, `${what}: ${response.status >= 400 ? await response.clone().text() : ""}`);
  if (operation.operationId === "watch") return checkStream(response);
  await checkAnswer(operation, response, what);
  const etag = response.headers.get("etag");
  if (operation.responses["304"]) {
    assert.match(etag, /^"[a-z]+\.[^".]+\.[\d-]+"$/, what);
    const again = await fetch(url, { headers: { "If-None-Match": etag } });
    assert.ok([200, 304].includes(again.status), `${what}, asked again: ${again.status}`);
    if (again.status === 304) known.add(operation.operationId);
  }
  console.log(what);
}
const known = new Set();

async function json(method, url, body) {
  const options = { method };
  if (body) options.body = JSON.stringify(body);
  if (body) options.headers = { "Content-Type": "application/json" };
  const response = await fetch(url, options);
  const text = await response.text();
  assert.ok(response.ok, `${url}: ${text}`);
  return text ? JSON.parse(text) : null;
}

// An agent with one instance, which is granted something, so that there is something to describe.
async function beAgent() {
  const { session, epoch } = await json("POST", `${agents}/v1/agent/sessions`, {
    service: "checkout",
    instance_id: "checkout-0",
    agent_version: "0.1.0",
    protocol: 1,
    nonce: "contract",
    dependencies: ["payments-db"],
  });
  let grant = { epoch: 0, seq: 0, limit: 0, base: 0, reserve: 0 };
  for (let n = 1; n <= 6 || grant.limit === 0; ++n) {
    assert.ok(n < 50, "nothing is granted");
    const answer = await json("POST", `${agents}/v1/agent/sessions/${session}/sync`, {
      n,
      epoch,
      hold_ms: 100,
      leaving: false,
      dependencies: [
        {
          name: "payments-db",
          installed_epoch: grant.epoch,
          installed_seq: grant.seq,
          enforced: grant.limit,
          base: grant.base,
          reserve: grant.reserve,
          in_flight: 0,
          in_flight_max: Math.min(1, grant.limit),
          waiting: 0,
          windows: [],
        },
      ],
    });
    grant = answer.grants[0] ?? grant;
    await sleep(60);
  }
}

async function start() {
  const ports = join(folder, "ports.json");
  writeFileSync(join(folder, "controller.yaml"), config);
  const child = spawn(
    controller,
    ["--dev", "--config", join(folder, "controller.yaml"), "--port-file", ports],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  for (let tries = 0; ; ++tries) {
    try {
      const { api: apiPort, agents: agentPort } = JSON.parse(readFileSync(ports, "utf8"));
      api = `http://127.0.0.1:${apiPort}`;
      agents = `http://127.0.0.1:${agentPort}`;
      return child;
    } catch (error) {
      assert.ok(tries < 200 && child.exitCode === null, `the controller did not start: ${error}`);
      await sleep(50);
    }
  }
}

async function main() {
  document = await json("GET", `${api}/v1/openapi.json`);
  const valid = await new Validator().validate(structuredClone(document));
  assert.ok(valid.valid, `api/openapi.yaml is no OpenAPI 3.1: ${JSON.stringify(valid.errors, null, 1)}`);
  await beAgent();
  const all = new Map([...operations()].map((operation) => [operation.operationId, operation]));
  assert.deepEqual([...all.keys()].sort(), Object.keys(cases).sort(), "each operation has one case");
  eventId = (await json("GET", `${api}/v1/events?page_size=1`)).items[0].id;
  assetName = /assets\/([\w.-]+)/.exec(await (await fetch(`${api}/ui/`)).text())[1];
  let asked = 0;
  for (const [id, given] of Object.entries(cases)) {
    if (notMerged.has(all.get(id).name)) {
      const { path, method } = all.get(id);
      const missing = await fetch(api + path, { method });
      assert.ok([404, 405].includes(missing.status), `${id} is served: not_merged.json is stale`);
      continue;
    }
    await ask(all.get(id), given);
    ++asked;
  }
  checkPartialAnswers(all);
  assert.ok(known.has("getOpenapi"), "what never changes was sent twice");
  for (const [method, path, status, code, headers] of refusals) {
    const response = await fetch(api + path, { method, headers });
    assert.equal(response.status, status, path);
    const problem = await response.json();
    check({ $ref: "#/components/schemas/Problem" }, problem, path);
    assert.equal(problem.code, code, path);
  }
  console.log(`${asked} of ${all.size} operations and ${refusals.length} refusals are as described`);
}

let child;
try {
  child = await start();
  await main();
} finally {
  child?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
}
