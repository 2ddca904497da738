// What surrounds every page: the bar, the banner, search, and the help for keys.
import { useEffect, useState } from 'preact/hooks';
import { answeredAt } from './api';
import { age, clock } from './format';
import { dataAge, lostAt, now, stale, stream } from './live';
import { useAll } from './resource';
import { dependencyHref, go, href, place } from './router';
import { Choice, choice, choose } from './theme';
import { Dependency, Instance, Status } from './types';
import { Dialog } from './ui';

declare const LICENCES: string;

const PAGES: [string, string, string][] = [['', 'Fleet', 'f'], ['instances', 'Instances', 'i'], ['quota', 'Quota', 'q'], ['events', 'Events', 'e'], ['config', 'Configuration', 'c']];

function isHere(path: string): boolean {
  const { path: here } = place.value;
  return path === '' ? here === '' || here.startsWith('dependencies') : here === path || here.startsWith(`${path}/`);
}

const STREAM_TEXT: Record<string, [string, string]> = {
  live: ['live', 'The controller tells every change as it happens'],
  polling: ['polling', 'No event stream is free, or there is none: asked every two seconds'],
  connecting: ['connecting', 'Opening the event stream'],
  lost: ['reconnecting', 'The event stream broke; it is opened again'],
};

function Indicator() {
  const [text, title] = stale.value ? ['stale', 'No answer lately'] : STREAM_TEXT[stream.value]!;
  return <span class={`live ${stale.value ? 'stale' : stream.value}`} title={title} role="status"><i aria-hidden="true" />{text}</span>;
}

function learning(status: Status | undefined): string {
  const told = status?.learning;
  if (status?.store_ok === false) return 'The store of the controller fails: nothing is raised until it works again.';
  if (typeof told !== 'object' || !told.active) return '';
  const left = told.remaining_seconds;
  return `The controller learns what is in force${typeof left === 'number' ? ` for ${age(left)} more` : ''}; until then it raises nothing. ${told.why ?? ''}`;
}

export function Banner({ status }: { status: Status | undefined }) {
  if (stale.value) {
    return (
      <p class="banner bad" role="alert">
        <b>No answer from the controller for {age(dataAge.value / 1000)}.</b> The numbers below are from {clock(answeredAt.value)}. Agents go on with what they were granted.
      </p>
    );
  }
  if (stream.value === 'lost') {
    return <p class="banner warn" role="alert"><b>The event stream broke {age((now.value - lostAt.value) / 1000)} ago;</b> it is opened again. Until then the numbers are asked for every two seconds.</p>;
  }
  const note = learning(status);
  return note ? <p class="banner info" role="status">{note}</p> : null;
}

function ThemeButton() {
  const next: Record<Choice, Choice> = { auto: 'dark', dark: 'light', light: 'auto' };
  const label: Record<Choice, string> = { auto: '◐', dark: '●', light: '○' };
  return <button type="button" class="quiet" title={`Colours: ${choice.value}`} aria-label={`Colours: ${choice.value}. Change to ${next[choice.value]}`} onClick={() => choose(next[choice.value])}>{label[choice.value]}</button>;
}

export function TopBar({ search, help }: { search: () => void; help: () => void }) {
  return (
    <header class="top">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the content</a>
      <a class="brand" href={href('')}><svg width="20" height="20" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="10" /><path d="M1 16h30" /></svg>Plimsoll</a>
      <nav aria-label="Pages">{PAGES.map(([path, title]) => <a key={path} href={href(path)} aria-current={isHere(path) ? 'page' : undefined}>{title}</a>)}</nav>
      <span class="grow" />
      <Indicator />
      <button type="button" class="search" onClick={search}>Search <kbd>/</kbd></button>
      <ThemeButton />
      <button type="button" class="quiet" aria-label="Help" title="Help (?)" onClick={help}>?</button>
    </header>
  );
}

interface Hit { text: string; kind: string; to: string }

export function Search({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const dependencies = useAll<Dependency>('/v1/dependencies', { once: true });
  const instances = useAll<Instance>('/v1/instances', { once: true });
  const all: Hit[] = [
    ...PAGES.map(([path, title]) => ({ text: title, kind: 'page', to: href(path) })),
    ...(dependencies.data ?? []).map((d) => ({ text: d.name, kind: 'dependency', to: dependencyHref(d.name) })),
    ...(instances.data ?? []).map((i) => ({ text: i.instance_id, kind: `instance of ${i.service}`, to: href('instances', { q: i.instance_id }) })),
  ];
  const hits = all.filter((hit) => hit.text.toLowerCase().includes(text.trim().toLowerCase())).slice(0, 12);
  const pick = (hit: Hit | undefined) => { if (hit) { close(); go(hit.to); } };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(hits.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') pick(hits[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Search" close={close}>
      <input class="query" autofocus type="text" role="combobox" aria-expanded="true" aria-controls="hits" aria-activedescendant={hits[at] ? `hit-${at}` : undefined} aria-label="Search dependencies, instances and pages"
        placeholder="dependency, instance or page" value={text} onInput={(e) => { setText(e.currentTarget.value); setAt(0); }} onKeyDown={onKey} />
      <ul class="hits" id="hits" role="listbox" aria-label="Results">
        {hits.map((hit, i) => <li key={hit.kind + hit.text} id={`hit-${i}`} role="option" aria-selected={i === at} onClick={() => pick(hit)} onMouseEnter={() => setAt(i)}>{hit.text}<small>{hit.kind}</small></li>)}
      </ul>
      {hits.length === 0 && <p class="faint pad">Nothing has that name.</p>}
    </Dialog>
  );
}

const KEYS: [string, string][] = [['/', 'search'], ['g f', 'fleet'], ['g i', 'instances'], ['g q', 'quota'], ['g e', 'events'], ['g c', 'configuration'], ['?', 'this help'], ['Esc', 'close']];

export function Help({ close }: { close: () => void }) {
  return (
    <Dialog label="Help" close={close}>
      <div class="help">
        <h2>Keys</h2>
        <dl class="pairs">{KEYS.map(([keys, text]) => <div key={keys}><dt>{keys.split(' ').map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{text}</dd></div>)}</dl>
        <h2>Words</h2>
        <dl class="terms">
          <div><dt>enforced</dt><dd>the limit in force; one call more is refused</dd></div>
          <div><dt>algorithm</dt><dd>what the algorithm proposes, before anything else</dd></div>
          <div><dt>share</dt><dd>what the controller grants of the quota</dd></div>
          <div><dt>floor, ceiling</dt><dd>bounds for the algorithm</dd></div>
          <div><dt>held back by</dt><dd>which of them decides</dd></div>
        </dl>
        <p class="row"><button type="button" class="primary" onClick={close}>Close</button><a href={LICENCES} target="_blank" rel="noreferrer">Licences</a></p>
      </div>
    </Dialog>
  );
}

export function useKeys(search: () => void, help: () => void): void {
  useEffect(() => {
    let waiting = 0;
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (document.querySelector('dialog[open]')) return;
      const second = Date.now() - waiting < 1500;
      waiting = 0;
      const page = PAGES.find(([, , k]) => second && k === event.key);
      if (page) go(href(page[0]));
      else if (event.key === 'g') waiting = Date.now();
      else if (event.key === '/') search();
      else if (event.key === '?') help();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
