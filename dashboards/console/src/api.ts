// Requests to the API beside the console, by relative addresses, at most four at once: the workers
// of a controller are few.
import { signal } from '@preact/signals';

export const base = new URL(document.baseURI);
const CONCURRENCY = 4;
const TIMEOUT_MS = 10_000;
const TOKEN_KEY = 'plimsoll.token';

// A refusal, or no answer at all (status 0).
export class Problem extends Error {
  constructor(
    readonly status: number, readonly code: string, readonly detail: string,
    readonly hint = '', readonly requestId = '',
    readonly errors: { pointer: string; detail: string; file?: string; line?: number; column?: number }[] = [], readonly retryAfter = 0,
  ) {
    super(detail);
  }
}

export interface Answer<T> { data: T; etag: string; unchanged: boolean }

export const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? '');
// When the controller last answered anything at all, in the browser's time; 0 for never.
export const answeredAt = signal(0);
export const failing = signal(false);

export function setToken(value: string): void {
  token.value = value;
  if (value) sessionStorage.setItem(TOKEN_KEY, value);
  else sessionStorage.removeItem(TOKEN_KEY);
}

export function apiUrl(path: string): string {
  return new URL('..' + path, base).href;
}

export function headers(more: Record<string, string> = {}): Record<string, string> {
  return token.value ? { Authorization: `Bearer ${token.value}`, ...more } : more;
}

let running = 0;
const waiting: (() => void)[] = [];

async function turn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= CONCURRENCY) await new Promise<void>((go) => waiting.push(go));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const requestId = response.headers.get('X-Request-Id') ?? '';
  const retry = Number(response.headers.get('Retry-After') ?? 0) || 0;
  let body: any = {};
  try {
    body = await response.json();
  } catch {
    // A proxy's own page says nothing that we could show.
  }
  return new Problem(response.status, body.code ?? `HTTP_${response.status}`,
    body.detail ?? `The answer was ${response.status} ${response.statusText}.`, body.hint ?? '',
    body.request_id ?? requestId, body.errors ?? [], retry);
}

export async function toProblem(response: Response): Promise<Problem> {
  return problemOf(response);
}

export function request<T>(method: string, path: string, options: { body?: unknown; etag?: string; match?: string } = {}): Promise<Answer<T>> {
  return turn(async () => {
    const more: Record<string, string> = {};
    if (options.etag) more['If-None-Match'] = options.etag;
    if (options.match) more['If-Match'] = `"${options.match}"`;
    if (options.body !== undefined) {
      more['Content-Type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    }
    let response: Response;
    try {
      response = await fetch(apiUrl(path), {
        method, headers: headers(more), cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS),
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
      });
    } catch (error) {
      failing.value = true;
      const late = error instanceof DOMException && error.name === 'TimeoutError';
      throw new Problem(0, 'NO_ANSWER', late ? 'The controller did not answer within 10 s.'
        : 'The controller cannot be reached from this browser.',
      'Check that plimsoll-controller runs, and the network or proxy between. Agents go on without it.');
    }
    failing.value = false;
    answeredAt.value = Date.now();
    const etag = response.headers.get('ETag') ?? '';
    if (response.status === 304) return { data: undefined as T, etag, unchanged: true };
    if (!response.ok) throw await problemOf(response);
    const text = await response.text();
    return { data: (text ? JSON.parse(text) : undefined) as T, etag, unchanged: false };
  });
}

export const get = <T>(path: string, etag = '') => request<T>('GET', path, { etag });

// All pages of a list, up to `most` rows.
export async function getAll<T>(path: string, most = 10_000): Promise<T[]> {
  const rows: T[] = [];
  let pageToken = '';
  do {
    const join = path.includes('?') ? '&' : '?';
    const page = `${path}${join}page_size=1000${pageToken ? `&page_token=${encodeURIComponent(pageToken)}` : ''}`;
    const { data } = await get<{ items: T[]; next_page_token: string }>(page);
    rows.push(...data.items);
    pageToken = data.next_page_token;
  } while (pageToken && rows.length < most);
  return rows;
}

export function query(parameters: Record<string, string | number | undefined | null>): string {
  const parts = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length ? `?${parts.join('&')}` : '';
}

// The same request for a shell. The token stays out of it.
export function curl(path: string, method = 'GET', body?: unknown): string {
  const auth = token.value ? ' -H "Authorization: Bearer $PLIMSOLL_TOKEN"' : '';
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  const data = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
  return `curl -s${verb}${auth}${data} ${quoted(apiUrl(path))}`;
}
