// Addresses of the console, all below the page's base.
import { signal } from '@preact/signals';
import { base } from './api';

export interface Place { path: string; query: URLSearchParams }

function read(): Place {
  const { pathname, search } = window.location;
  const path = pathname.startsWith(base.pathname) ? pathname.slice(base.pathname.length) : '';
  return { path: path.replace(/\/+$/, ''), query: new URLSearchParams(search) };
}

export const place = signal<Place>(read());

export function href(path: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return base.pathname + path + (search ? `?${search}` : '');
}

export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  const before = place.value.path;
  place.value = read();
  if (replace || before === place.value.path) return;
  window.scrollTo(0, 0);
  // Screen readers begin with the new page, keyboards as well.
  queueMicrotask(() => document.querySelector<HTMLElement>('main h1')?.focus());
}

// Filters of a view are in its address, so that it can be shared.
export function setQuery(changes: Record<string, string>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const search = query.toString();
  go(window.location.pathname + (search ? `?${search}` : ''), true);
}

export const dependencyHref = (name: string, query: Record<string, string> = {}) =>
  href(`dependencies/${encodeURIComponent(name)}`, query);
export const eventHref = (id: string) => href(`events/${encodeURIComponent(id)}`);

export function start(): void {
  window.addEventListener('popstate', () => { place.value = read(); });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== window.location.origin) return;
    if (!link.pathname.startsWith(base.pathname) || link.pathname.includes('/assets/')) return;
    if (link.hash && link.pathname === window.location.pathname) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
