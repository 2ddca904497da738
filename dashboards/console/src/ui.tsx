// Small parts that all pages share.
import { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem, curl, setToken, token } from './api';
import { words } from './format';
import { Resource } from './resource';
import { eventHref } from './router';
import { Decision } from './types';

type Children = { children?: ComponentChildren };

const CONSTRAINT_HELP: Record<string, string> = {
  FALLBACK: 'The instance has lost the controller and steps down, as it was granted in advance.',
  QUOTA: 'The instance could use more than its share of the quota.',
  OVERRIDE: 'An operator has pinned the limit.',
  CEILING: 'The algorithm would go higher; the configured ceiling stops it.',
  FLOOR: 'The algorithm would go lower; the configured floor stops it.',
  ALGORITHM: 'The limit is what the algorithm found.',
};

export function Constraint({ name }: { name: string | null | undefined }) {
  if (!name) return <span class="faint">–</span>;
  return <span class={`chip c-${name.toLowerCase()}`} title={CONSTRAINT_HELP[name] ?? ''}>{words(name)}</span>;
}

const HEALTH_TONE: Record<string, string> = {
  OK: 'good', LIMITED: 'warn', AT_FLOOR: 'warn', STARVED: 'bad', NO_INSTANCES: 'quiet',
};

export function Health({ name }: { name: string }) {
  return <span class={`chip t-${HEALTH_TONE[name] ?? 'quiet'}`}>{words(name)}</span>;
}

export function Mode({ mode }: { mode: string }) {
  return <span class={mode === 'ENFORCE' ? '' : 'chip t-info'}>{words(mode)}</span>;
}

export function Panel({ title, aside, children, class: name = '', id }: Children & {
  title: string; aside?: ComponentChildren; class?: string; id?: string;
}) {
  return (
    <section class={`panel ${name}`} id={id} aria-label={title}>
      <header><h2>{title}</h2><div class="aside">{aside}</div></header>
      {children}
    </section>
  );
}

export function PageHead({ title, sub, paths, children }: Children & {
  title: ComponentChildren; sub?: ComponentChildren; paths: string[];
}) {
  return (
    <div class="page-head">
      <div class="grow"><h1 tabIndex={-1}>{title}</h1>{sub && <p class="sub">{sub}</p>}</div>
      <div class="actions">{children}<CopyCurl paths={paths} /></div>
    </div>
  );
}

async function copy(text: string, field: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages without a secure context have no clipboard: select the text instead.
    const range = document.createRange();
    if (field) {
      range.selectNodeContents(field);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
    }
    return document.execCommand('copy');
  }
}

export function CopyCurl({ paths }: { paths: string[] }) {
  const [open, setOpen] = useState(false);
  const [note, setNote] = useState('');
  const text = useRef<HTMLPreElement>(null);
  const lines = paths.map((path) => curl(path)).join('\n');
  useEffect(() => {
    if (!open) { setNote(''); return undefined; }
    const close = (event: KeyboardEvent) => { if (event.key === 'Escape') setOpen(false); };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [open]);
  const toggle = async () => {
    setOpen(!open);
    if (!open) setNote((await copy(lines, text.current)) ? 'Copied.' : 'Select the text and copy it.');
  };
  return (
    <span class="pop-anchor">
      <button type="button" aria-expanded={open} onClick={toggle}>Copy as curl</button>
      {open && (
        <div class="pop" role="dialog" aria-label="This view as curl">
          <p role="status">{note || 'This view, for a shell:'}</p>
          <pre ref={text} tabIndex={0}>{lines}</pre>
          {token.value && <p class="faint">Your token stays out of it: set PLIMSOLL_TOKEN.</p>}
          <button type="button" onClick={() => setOpen(false)}>Close</button>
        </div>
      )}
    </span>
  );
}

export function TokenPrompt({ problem }: { problem: Problem }) {
  const [value, setValue] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    if (value.trim()) setToken(value.trim());
  };
  const denied = problem.status === 403;
  return (
    <form class="state" onSubmit={submit}>
      <h2>{denied ? 'Not with this role' : token.value ? 'The token was not accepted' : 'A token is needed'}</h2>
      <p>{problem.detail}</p>
      {problem.hint && <p class="faint">{problem.hint}</p>}
      <label>Token <input type="password" autocomplete="off" spellcheck={false} value={value}
        onInput={(event) => setValue(event.currentTarget.value)} /></label>
      <div class="row">
        <button class="primary" type="submit">Use this token</button>
        {token.value && <button type="button" onClick={() => setToken('')}>Forget the token</button>}
      </div>
      <p class="faint">It is kept in this tab only, until you close it.{problem.requestId && ` Request ${problem.requestId}`}</p>
    </form>
  );
}

const PROBLEM_TITLES: Record<number, string> = {
  0: 'No answer', 404: 'Not here', 409: 'It cannot be changed this way', 412: 'Somebody else changed it first', 429: 'Too many requests', 503: 'The controller cannot do it now',
};

function titleOf({ status }: Problem): string {
  return PROBLEM_TITLES[status] ?? (status >= 500 ? 'The controller failed' : 'The controller refused');
}

// What is told beside the controller's own words.
function adviceOn({ status, retryAfter }: Problem): string {
  if (status === 412) return 'Nothing was changed. What stands here is the newest: look at it, and decide anew.';
  if (status === 429) return `Nothing was changed. Try again ${retryAfter > 0 ? `in ${retryAfter} s` : 'in a few seconds'}.`;
  return '';
}

export function ProblemView({ problem, retry }: { problem: Problem; retry?: () => void }) {
  if (problem.status === 401 || problem.status === 403) return <TokenPrompt problem={problem} />;
  const more = adviceOn(problem);
  return (
    <div class="state" role="alert">
      <h2>{titleOf(problem)}</h2>
      <p>{problem.detail}</p>
      {more && <p>{more}</p>}
      {problem.errors.length > 0 && <ul>{problem.errors.map((e) => <li key={e.pointer + e.detail}><code>{e.file ? `${e.file}:${e.line}:${e.column} ` : ''}{e.pointer}</code> {e.detail}</li>)}</ul>}
      {problem.hint && <p class="faint">{problem.hint}</p>}
      <p class="faint mono">{problem.code}{problem.requestId && ` · request ${problem.requestId}`}</p>
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  );
}

// Keeps the keyboard inside while it is open, and gives the focus back.
export function Dialog({ label, close, children }: Children & { label: string; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={dialog} aria-label={label} onClose={close} onClick={(event) => { if (event.target === dialog.current) close(); }}>{children}</dialog>
  );
}

export function Empty({ title, top = false, children }: Children & { title: string; top?: boolean }) {
  return <div class="state">{top ? <h1 tabIndex={-1}>{title}</h1> : <h2>{title}</h2>}{children}</div>;
}

// What there is of a resource: it, why it is not there, or that it is on its way.
export function Show<T>({ of, children }: { of: Resource<T>; children: (data: T) => ComponentChildren }) {
  if (of.data !== undefined) {
    const again = of.problem && of.problem.status !== 0;
    return (
      <>
        {again && <p class="note t-bad" role="alert">Could not be read again: {of.problem!.detail} <span class="mono">{of.problem!.requestId}</span></p>}
        {children(of.data)}
      </>
    );
  }
  if (of.problem) return <ProblemView problem={of.problem} retry={of.reload} />;
  return <div class="state" role="status"><span class="skeleton" /><span class="skeleton short" /><span class="faint">Loading…</span></div>;
}

// A bar of `value` in `whole`, with an optional mark. The numbers stand beside it as text.
export function Bar({ value, whole, mark, tone = 'flight' }: { value: number; whole: number; mark?: number; tone?: string }) {
  const width = whole > 0 ? Math.min(100, (100 * value) / whole) : 0;
  return (
    <span class="bar" aria-hidden="true">
      <span class={`fill f-${tone}`} style={{ width: `${width}%` }} />
      {mark !== undefined && whole > 0 && <span class="mark" style={{ left: `${Math.min(100, (100 * mark) / whole)}%` }} />}
    </span>
  );
}

export function Stat({ label, value, note, tone = '' }: { label: string; value: ComponentChildren; note?: ComponentChildren; tone?: string }) {
  return <div class={`stat ${tone}`}><dt>{label}</dt><dd>{value}{note && <small>{note}</small>}</dd></div>;
}

export function Change({ from, to }: { from: number; to: number }) {
  const way = to > from ? 'up' : to < from ? 'down' : 'same';
  const sign = way === 'up' ? '▲' : way === 'down' ? '▼' : '=';
  return <span class={`change ${way}`}><span aria-hidden="true">{sign}</span> {from} → {to}</span>;
}

// A sentence of the controller; a decision that it names is a link.
export function Message({ text }: { text: string }) {
  const parts = text.split(/\b((?:Decision|Event) \d+-\d+)\b/);
  return <>{parts.map((part) => (/^(Decision|Event) \d+-\d+$/.test(part) ? <a key={part} href={eventHref(part.split(' ')[1]!)}>{part}</a> : part))}</>;
}

export function DecisionLine({ decision }: { decision: Decision }) {
  return (
    <>
      <Message text={decision.message} />
      {decision.event_id && <> <a href={eventHref(decision.event_id)}>inputs</a></>}
    </>
  );
}
