// Live data: one event stream for all tabs of a browser where that can be arranged, and polling where
// there is none. The stream says that something changed; what it is now is read again.
import { computed, signal } from '@preact/signals';
import { answeredAt, apiUrl, failing, headers, toProblem, token } from './api';

export type StreamState = 'connecting' | 'live' | 'polling' | 'lost';

const WATCHDOG_MS = 40_000; // the controller sends a comment every 15 s
const HIDDEN_MS = 30_000;
const RETRY_MAX_MS = 15_000;
const STALE_MS = 10_000;

export const stream = signal<StreamState>('connecting');
export const lostAt = signal(0);
export const now = signal(Date.now());
setInterval(() => { now.value = Date.now(); }, 1000);

export const dataAge = computed(() => (answeredAt.value ? Math.max(0, now.value - answeredAt.value) : 0));
export const stale = computed(() => answeredAt.value > 0 && (dataAge.value > STALE_MS || failing.value));
// How often what is shown is read again.
export const pollMs = computed(() => (stream.value === 'live' ? 5000 : 2000));

type Listener = (topic: string) => void;
const listeners = new Set<Listener>();
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(`plimsoll-watch:${apiUrl('/v1')}`) : null;

function tell(topic: string): void {
  for (const listener of listeners) listener(topic);
}
function setState(state: StreamState): void {
  if (state === 'lost' && stream.value !== 'lost') lostAt.value = Date.now();
  stream.value = state;
}
function publish(message: { topic?: string; state?: StreamState }): void {
  if (message.state) setState(message.state);
  if (message.topic) tell(message.topic);
  channel?.postMessage(message);
}

let lastEventId = '';
let abort: AbortController | null = null;
let wake: (() => void) | null = null;
let hidden = false;

// Lines of one frame of an event stream.
function onFrame(frame: string): 'bye' | '' {
  let name = 'message';
  for (const line of frame.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    if (line.startsWith('id:')) lastEventId = line.slice(3).trim();
  }
  if (!frame.includes('data:') && name === 'message') return '';
  if (name === 'bye') return 'bye';
  if (name === 'reset') lastEventId = '';
  publish({ topic: name });
  return '';
}

async function readFrames(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = '';
  for (;;) {
    const watchdog = setTimeout(() => abort?.abort(), WATCHDOG_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(watchdog));
    if (done) return;
    buffer += decoder.decode(value, { stream: true }).replaceAll('\r\n', '\n');
    answeredAt.value = Date.now();
    for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
      const frame = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      if (onFrame(frame) === 'bye') return;
    }
  }
}

// Returns how long to wait before the next attempt.
async function watchOnce(attempt: number): Promise<number> {
  const backoff = Math.min(RETRY_MAX_MS, 1000 * 2 ** Math.min(attempt, 4));
  abort = new AbortController();
  try {
    const resume: Record<string, string> = lastEventId ? { 'Last-Event-ID': lastEventId } : {};
    const response = await fetch(apiUrl('/v1/watch?topics=limits,instances,quotas,events,config'), {
      headers: headers({ Accept: 'text/event-stream', ...resume }), cache: 'no-store', signal: abort.signal,
    });
    if (response.ok && response.body) {
      publish({ state: 'live', topic: 'reset' });
      await readFrames(response.body);
      if (!hidden) publish({ state: 'lost', topic: 'lost' });
      return 1000;
    }
    const problem = await toProblem(response);
    if (problem.status === 410) lastEventId = '';
    // No stream is free, this controller has none, or we may not: the data can be asked for.
    publish({ state: 'polling' });
    return Math.max(problem.retryAfter * 1000, problem.status === 404 ? 60_000 : 5000);
  } catch {
    if (!hidden) publish({ state: 'lost', topic: 'lost' });
    return backoff;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    wake = () => { clearTimeout(timer); done(); };
  });
}

async function watch(): Promise<void> {
  for (let attempt = 0; !hidden; attempt += 1) {
    const before = stream.value;
    const wait = await watchOnce(attempt);
    if (before !== 'lost') attempt = 0;
    if (!hidden) await pause(wait);
  }
}

// The tab that has the lock has the stream; another one takes over when it is closed or hidden.
async function lead(): Promise<never> {
  for (;;) {
    while (hidden) await pause(1e9);
    if (navigator.locks && channel) await navigator.locks.request(`plimsoll-watch:${apiUrl('/v1')}`, watch);
    else await watch();
  }
}

function followVisibility(): void {
  let timer = 0;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = window.setTimeout(() => { hidden = true; abort?.abort(); wake?.(); }, HIDDEN_MS);
      return;
    }
    if (hidden) stream.value = 'connecting';
    hidden = false;
    wake?.();
    tell('reset');
  });
}

export function start(): void {
  followVisibility();
  channel?.addEventListener('message', ({ data }) => {
    if (data.state) setState(data.state);
    if (data.topic) { answeredAt.value = Date.now(); tell(data.topic); }
    if (data.ask && abort) channel.postMessage({ state: stream.value });
  });
  token.subscribe(() => { abort?.abort(); wake?.(); });
  channel?.postMessage({ ask: true });
  void lead();
}
