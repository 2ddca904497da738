// What operators may change about a dependency. Whether one may, the controller decides.
import { useState } from 'preact/hooks';
import { Problem, request } from '../api';
import { age, dateTime } from '../format';
import { mayOperate } from '../role';
import { href } from '../router';
import { Dependency, Override } from '../types';
import { Panel, ProblemView } from '../ui';

const TIMES: [string, number][] = [['15 minutes', 900], ['1 hour', 3600], ['4 hours', 14_400], ['1 day', 86_400]];

type What = 'limit' | 'OBSERVE' | 'ENFORCE';

// Who may only look sees what is set, and no button.
export function Operate({ d, changed }: { d: Dependency; changed: () => void }) {
  if (mayOperate.value) return <Operator d={d} changed={changed} />;
  if (mayOperate.value === undefined) return null;
  return (
    <Panel title="Operate">
      {d.override && <p class="note t-info"><Pinned o={d.override} /></p>}
      <p class="faint">You may look, but not change anything here. <a href={href('config')}>Show a token with the role operator</a></p>
    </Panel>
  );
}

function Pinned({ o }: { o: Override }) {
  return (
    <>
      <b>{o.limit !== null ? `Pinned to ${o.limit}` : `Mode ${String(o.mode).toLowerCase()}`}</b> by {o.set_by || 'an operator'}: “{o.reason}”.
      Ends {dateTime(o.expire_time)}, in {age((new Date(o.expire_time).getTime() - Date.now()) / 1000)}.
    </>
  );
}

function Operator({ d, changed }: { d: Dependency; changed: () => void }) {
  const path = `/v1/dependencies/${encodeURIComponent(d.name)}`;
  const [what, setWhat] = useState<What>('limit');
  const [limit, setLimit] = useState(String(Math.max(1, Math.round(d.status.enforced / Math.max(1, d.status.instances)))));
  const [reason, setReason] = useState('');
  const [lasts, setLasts] = useState(3600);
  const [armed, setArmed] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [done, setDone] = useState('');

  const act = async (text: string, method: string, where: string, body?: unknown, match?: string) => {
    setBusy(true);
    setProblem(undefined);
    setDone('');
    setArmed(undefined);
    try {
      await request(method, where, { body, match });
      setDone(text);
    } catch (error) {
      setProblem(error as Problem);
    }
    changed(); // a refusal, too, may mean that it is not what it was
    setBusy(false);
  };
  const pin = (event: Event) => {
    event.preventDefault();
    const expire = new Date(Date.now() + lasts * 1000).toISOString();
    const wish = what === 'limit' ? { limit: Number(limit) } : { mode: what };
    void act('The override is in force.', 'PUT', `${path}/override`, { ...wish, reason: reason.trim(), expire_time: expire }, d.override?.revision);
  };
  // A second press within the same view confirms.
  const confirm = (name: string, label: string, text: string, run: () => void) => (
    <button type="button" class={armed === name ? 'danger' : ''} disabled={busy} onClick={() => (armed === name ? run() : setArmed(name))}>
      {armed === name ? text : label}
    </button>
  );
  const o = d.override;
  const other = d.mode === 'ENFORCE' ? 'OBSERVE' : 'ENFORCE';
  return (
    <Panel title="Operate" aside={<span class="faint">needs the role operator</span>}>
      {o && (
        <div class="note t-info">
          <Pinned o={o} />
          <div class="row">{confirm('clear', 'Clear the override', 'Press again to clear', () => void act('The override is gone.', 'DELETE', `${path}/override`))}</div>
        </div>
      )}
      <form class="form" onSubmit={pin}>
        <fieldset>
          <legend>Override</legend>
          <label class="inline"><input type="radio" name="what" checked={what === 'limit'} onChange={() => setWhat('limit')} /> pin the limit of each instance to
            <input class="short" type="number" min="1" required={what === 'limit'} aria-label="Limit" value={limit} onInput={(e) => { setLimit(e.currentTarget.value); setWhat('limit'); }} /></label>
          <label class="inline"><input type="radio" name="what" checked={what === 'OBSERVE'} onChange={() => setWhat('OBSERVE')} /> observe: refuse nothing</label>
          <label class="inline"><input type="radio" name="what" checked={what === 'ENFORCE'} onChange={() => setWhat('ENFORCE')} /> enforce</label>
        </fieldset>
        <label>Reason <input required maxLength={200} placeholder="INC-12 failover" value={reason} onInput={(e) => setReason(e.currentTarget.value)} /></label>
        <label>For <select value={lasts} onChange={(e) => setLasts(Number(e.currentTarget.value))}>{TIMES.map(([text, value]) => <option key={value} value={value}>{text}</option>)}</select></label>
        <button class="primary" type="submit" disabled={busy}>{o ? 'Replace the override' : 'Set the override'}</button>
      </form>
      <div class="row">
        {confirm('reset', 'Reset what was learned', 'Press again to reset', () => void act('It starts from the initial limit again.', 'POST', `${path}:reset`))}
        {d.origin === 'API' && confirm('mode', `Set mode ${other.toLowerCase()}`, 'Press again to change', () => void act(`Mode ${other.toLowerCase()} is set.`, 'PATCH', path, { mode: other }))}
      </div>
      <p class="faint">An override never lifts a limit above its share of the quota.</p>
      {done && <p class="note t-good" role="status">{done}</p>}
      {problem && <ProblemView problem={problem} />}
    </Panel>
  );
}
