// Data on a page: read at once, read again from time to time and when the stream says so.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Answer, Problem, get, getAll, token } from './api';
import { onChange, pollMs } from './live';

export interface Resource<T> {
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  reload: () => void;
}

interface Options {
  every?: number; // ms; by default as often as the state of the stream asks for
  once?: boolean;
  keep?: boolean; // what was there stays until what is at the new address arrives
}

type Reader<T> = (etag: string) => Promise<Answer<T>>;

const SETTLE_MS = 400; // a burst of events is one reading
const GAP_MS = 1000; // between two readings, however many events there are

export function useReader<T>(key: string | null, reader: Reader<T>, options: Options = {}): Resource<T> {
  const [, redraw] = useState(0);
  const wanted = useRef(options);
  wanted.current = options;
  const state = useRef<{ key: string | null; data?: T; problem?: Problem; reload: () => void }>({ key: null, reload: () => {} });
  if (state.current.key !== key) {
    state.current = { key, data: options.keep ? state.current.data : undefined, reload: () => {} };
  }
  useEffect(() => {
    if (key === null) return undefined;
    const mine = state.current;
    let timer = 0;
    let etag = '';
    let busy = false;
    let again = false;
    let soon = false; // a reading is due that the stream asked for
    let readAt = 0;
    let ended = false;
    const read = async () => {
      if (busy) { again = true; return; }
      busy = true;
      soon = false;
      readAt = Date.now();
      clearTimeout(timer);
      try {
        const answer = await reader(etag);
        if (!answer.unchanged) { mine.data = answer.data; etag = answer.etag; }
        mine.problem = undefined;
      } catch (error) {
        mine.problem = error instanceof Problem ? error : new Problem(0, 'INTERNAL', String(error));
      }
      busy = false;
      if (ended) return;
      redraw((n) => n + 1);
      schedule();
    };
    const gap = () => Math.max(SETTLE_MS, readAt + (wanted.current.every ?? GAP_MS) - Date.now());
    const schedule = () => {
      clearTimeout(timer);
      if (options.once && mine.data !== undefined && !again) return;
      const wait = again ? gap() : mine.problem?.retryAfter ? mine.problem.retryAfter * 1000 : wanted.current.every ?? pollMs.value;
      again = false;
      timer = window.setTimeout(() => (document.hidden ? schedule() : void read()), wait);
    };
    mine.reload = () => void read();
    void read();
    const stopStream = onChange((topic) => {
      if (options.once || document.hidden) return;
      if (busy) { again = true; return; }
      const urgent = topic === 'reset' || topic === 'lost';
      if (soon && !urgent) return;
      soon = true;
      clearTimeout(timer);
      timer = window.setTimeout(() => void read(), urgent ? SETTLE_MS : gap());
    });
    const stopToken = token.subscribe(() => { etag = ''; if (!busy) { clearTimeout(timer); timer = window.setTimeout(() => void read(), 0); } });
    return () => { ended = true; clearTimeout(timer); stopStream(); stopToken(); };
  }, [key]);
  const { data, problem } = state.current;
  return { data, problem, loading: key !== null && data === undefined && problem === undefined, reload: () => state.current.reload() };
}

export function useResource<T>(path: string | null, options: Options = {}): Resource<T> {
  return useReader<T>(path, (etag) => get<T>(path!, etag), options);
}

export function useAll<T>(path: string | null, options: Options = {}): Resource<T[]> {
  return useReader<T[]>(path, async () => ({ data: await getAll<T>(path!), etag: '', unchanged: false }), options);
}
