import { useState } from 'preact/hooks';
import { age, clock, count } from '../format';
import { History, useHistory } from '../history';
import { useAll, useResource } from '../resource';
import { dependencyHref, href } from '../router';
import { Empty, PageHead, Panel, Show } from '../ui';
import { Dependency, Quota, Share } from '../types';

const TOTALS = ['granted', 'reserved', 'wanted', 'in_flight'];
const HOLDERS_MAX = 16;

interface Totals { capacity: number; granted: number; reserved: number; wanted: number; orphaned: number }

function width(part: number, whole: number) {
  return { width: `${Math.max(0, Math.min(100, (100 * part) / Math.max(1, whole)))}%` };
}

// Granted solid, what nobody lives to use hatched, demand above the capacity red, the rest empty.
function QuotaBar({ t, shares }: { t: Totals; shares: Share[] }) {
  const whole = Math.max(t.capacity, t.wanted, t.reserved);
  const live = shares.filter((share) => share.granted > 0);
  const rest = t.reserved - t.orphaned;
  return (
    <div class="quota-bar" role="img" aria-label={`${t.reserved} of ${t.capacity} reserved, ${t.wanted} wanted, ${t.orphaned} held for instances that are gone`}>
      <div class="track" style={width(t.capacity, whole)} />
      <div class="held" style={width(rest, whole)}>
        {live.map((share) => <span key={`${share.service}/${share.instance_id}`} class="part" style={{ flexGrow: share.granted }}
          title={`${share.instance_id}: granted ${share.granted}, wanted ${share.wanted}`}><i style={width(share.in_flight, share.granted)} /></span>)}
      </div>
      {t.orphaned > 0 && <div class="orphaned" style={{ left: width(rest, whole).width, ...width(t.orphaned, whole) }} />}
      {t.wanted > t.capacity && <div class="over" style={{ left: width(t.capacity, whole).width, ...width(t.wanted - t.capacity, whole) }} />}
      <div class="edge" style={{ left: width(t.capacity, whole).width }} />
    </div>
  );
}

function Holders({ name, shares, capacity }: { name: string; shares: Share[]; capacity: number }) {
  const [all, setAll] = useState(false);
  const sorted = [...shares].sort((a, b) => b.granted - a.granted || a.instance_id.localeCompare(b.instance_id, 'en', { numeric: true }));
  const shown = all ? sorted : sorted.slice(0, HOLDERS_MAX);
  const whole = Math.max(1, ...shares.map((share) => Math.max(share.wanted, share.reserved)));
  return (
    <>
      <div class="scroll holders" tabIndex={0} role="group" aria-label={`Holders of ${name}`}>
      <table class="grid loose" aria-label="Who holds what, who wants what">
        <thead><tr><th scope="col">Instance</th><th scope="col">Service</th><th scope="col" class="bar-col">In flight · granted · wanted</th><th scope="col" class="n">In flight</th><th scope="col" class="n">Granted</th><th scope="col" class="n">Reserved</th><th scope="col" class="n">Wanted</th><th scope="col" class="n">Silent</th></tr></thead>
        <tbody>
          {shown.map((share) => (
            <tr key={`${share.service}/${share.instance_id}`}>
              <td title={share.instance_id}>{share.instance_id}</td><td class="faint">{share.service}</td>
              <td class="bar-col"><span class="share" aria-hidden="true"><i class="wanted" style={width(share.wanted, whole)} /><i class="granted" style={width(share.granted, whole)} /><i class="flight" style={width(share.in_flight, whole)} /></span></td>
              <td class="n">{count(share.in_flight)}</td><td class="n"><b>{count(share.granted)}</b></td><td class="n">{count(share.reserved)}</td>
              <td class={`n ${share.wanted > share.granted ? 'bad-text' : ''}`}>{count(share.wanted)}</td><td class="n faint">{age(share.silent_seconds)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot><tr><th scope="row" colSpan={3}>Sum of {shares.length}</th>
          <td class="n">{count(shares.reduce((n, s) => n + s.in_flight, 0))}</td><td class="n">{count(shares.reduce((n, s) => n + s.granted, 0))}</td>
          <td class="n">{count(shares.reduce((n, s) => n + s.reserved, 0))} <span class="faint">of {capacity}</span></td><td class="n">{count(shares.reduce((n, s) => n + s.wanted, 0))}</td><td /></tr></tfoot>
      </table>
      </div>
      {shares.length > HOLDERS_MAX && <button type="button" class="more" onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show all ${shares.length}`}</button>}
    </>
  );
}

function totalsAt(history: History, index: number, capacity: number): Totals {
  const at = (name: string) => history.columns[name]?.[index] ?? 0;
  return { capacity, granted: at('granted'), reserved: at('reserved'), wanted: at('wanted'), orphaned: 0 };
}

function OneQuota({ d }: { d: Dependency }) {
  const quota = useResource<Quota>(`/v1/dependencies/${encodeURIComponent(d.name)}/quota`);
  const history = useHistory(d.name, TOTALS, 60, 15_000);
  const [back, setBack] = useState(0); // points before now
  const points = history.data?.times.length ?? 0;
  const past = back > 0 && history.data !== undefined && points > back;
  return (
    <Show of={quota}>{(q: Quota) => {
      const capacity = q.capacity ?? 0;
      const index = points - 1 - back;
      const t = past ? totalsAt(history.data!, index, capacity) : { ...q, capacity };
      const allowed = t.capacity + (past ? 0 : q.draining ?? 0);
      const kept = t.reserved <= allowed;
      const when = past ? clock(history.data!.times[index]! * 1000) : 'now';
      return (
        <Panel title={d.name} class="quota" aside={<span class={`check ${kept ? 'good' : 'bad'}`}>reserved {count(t.reserved)} ≤ {count(t.capacity)}{q.draining && !past ? ` + ${q.draining} draining` : ''} {kept ? '✓' : '✗'}</span>}>
          <QuotaBar t={t} shares={past ? [] : q.shares} />
          <p class="legend-line">
            {!past && <span class="key"><span class="sw flight" /> in flight <b>{count(q.shares.reduce((n, s) => n + s.in_flight, 0))}</b></span>}
            <span class="key"><span class="sw granted" /> granted <b>{count(t.granted)}</b></span>
            <span class="key"><span class="sw orphaned" /> held for the gone <b>{past ? '–' : count(t.orphaned)}</b></span>
            <span class="key"><span class="sw empty" /> unallocated <b>{count(Math.max(0, t.capacity - t.reserved))}</b></span>
            <span class="key"><span class="sw over" /> wanted above it <b>{count(Math.max(0, t.wanted - t.capacity))}</b></span>
            <span class="grow" />
            {points > 1 && <label class="slider">{when} <input type="range" min={0} max={points - 1} value={index} aria-label={`Look back at ${d.name}`} aria-valuetext={when}
              onInput={(e) => setBack(points - 1 - Number(e.currentTarget.value))} /></label>}
            <a href={dependencyHref(d.name)}>details</a>
          </p>
          {past ? <p class="faint pad">Who held what is shown for now only; the totals above are those of {when}. <button type="button" onClick={() => setBack(0)}>Back to now</button></p>
            : q.shares.length === 0 ? <p class="faint pad">Nobody holds a share. The first agent that uses it gets one.</p>
              : <Holders name={d.name} shares={q.shares} capacity={capacity} />}
        </Panel>
      );
    }}</Show>
  );
}

export function QuotaPage() {
  const dependencies = useAll<Dependency>('/v1/dependencies', { every: 10_000 });
  const bounded = (dependencies.data ?? []).filter((d) => d.quota).sort((a, b) => b.status.wanted / b.quota!.capacity - a.status.wanted / a.quota!.capacity);
  return (
    <>
      <PageHead title="Quota" sub="Who holds what, who wants what; the sum never passes the quota" paths={bounded.slice(0, 20).map((d) => `/v1/dependencies/${encodeURIComponent(d.name)}/quota`)} />
      <Show of={dependencies}>{() => (bounded.length === 0
        ? <Empty title="No dependency has a quota"><p>Add <code>quota: {'{capacity: 50}'}</code> to one whose provider takes only so many calls at once. <a href={href('config')}>Configuration</a></p></Empty>
        : <>{bounded.map((d) => <OneQuota key={d.name} d={d} />)}</>)}</Show>
    </>
  );
}
