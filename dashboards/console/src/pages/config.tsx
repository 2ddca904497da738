import { useState } from 'preact/hooks';
import { Problem, apiUrl, request, setToken, token } from '../api';
import { dateTime, setting, words } from '../format';
import { Resource, useResource } from '../resource';
import { mayOperate } from '../role';
import { PageHead, Panel, ProblemView, Show, TokenPrompt } from '../ui';
import { Column, Table } from '../table';
import { ConfigEntry, ConfigStatus, Status } from '../types';

const columns = (pending: string[]): Column<ConfigEntry>[] => [
  { key: 'key', phone: '55%', title: 'Key', width: '26%', by: (e) => e.key, cell: (e) => <code>{e.key}</code> },
  { key: 'value', phone: '45%', title: 'Value', width: '24%', cell: (e) => <code class="strong" title={setting(e.value)}>{setting(e.value)}</code> },
  { key: 'source', title: 'Source', width: '104px', by: (e) => e.source, cell: (e) => <span class={e.source === 'DEFAULT' ? 'faint' : 'chip t-info'}>{words(e.source)}</span> },
  { key: 'place', title: 'Place', cell: (e) => <span class="faint mono" title={e.place ?? ''}>{shortPlace(e.place)}</span> },
  { key: 'restart', title: 'Change', width: '158px', by: (e) => Number(Boolean(e.needs_restart)), cell: (e) => (pending.includes(e.key) ? <span class="chip t-warn">waits for a restart</span>
    : <span class="faint">{e.needs_restart ? 'needs a restart' : 'by a reload'}</span>) },
];

// The end of a long path tells more than its beginning: file and line.
function shortPlace(place: string | undefined | null): string {
  const text = place ?? '';
  return text.length > 34 ? `…${text.slice(-33)}` : text;
}

function entries(body: unknown): ConfigEntry[] {
  if (Array.isArray(body)) return body as ConfigEntry[];
  const object = (body ?? {}) as Record<string, unknown>;
  for (const name of ['items', 'settings', 'entries']) {
    if (Array.isArray(object[name])) return object[name] as ConfigEntry[];
  }
  return [];
}

function jsonList<T>(text: unknown): T[] {
  try {
    const list = typeof text === 'string' ? JSON.parse(text) : text;
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

// Who may do what, as far as the settings tell: those with certificates, and callers without credentials.
// Names of tokens stand in a file that the controller shows to nobody.
function Access({ body }: { body: unknown }) {
  const value = (key: string) => entries(body).find((e) => e.key === key)?.value;
  const rows = jsonList<{ san: string; name: string; role: string }>(value('auth.identities')).map(({ name, san, role }) => ({ name, role, proof: `certificate of ${san}` }));
  for (const role of jsonList<string>(value('auth.allow_anonymous'))) rows.push({ name: 'anybody', role, proof: 'nothing' });
  const file = String(value('auth.tokens_file') ?? '');
  if (rows.length === 0 && !file) return null;
  return (
    <Panel title="Who may do what" class="flush">
      {rows.length > 0 && (
        <table class="grid loose access" aria-label="Who may do what">
          <thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Proved by</th></tr></thead>
          <tbody>{rows.map((row) => <tr key={row.name + row.proof + row.role}><td class="strong">{row.name}</td><td>{row.role}</td><td class="faint">{row.proof}</td></tr>)}</tbody>
        </table>
      )}
      {file && <p class="faint pad">And whoever has a token of <code>{file}</code>: name and role of each stand there, the token itself nowhere.</p>}
    </Panel>
  );
}

function Load({ status, s }: { status: Status; s?: ConfigStatus }) {
  const [problem, setProblem] = useState<Problem>();
  const [done, setDone] = useState('');
  const ok = s?.last_load_ok ?? status.config.last_reload_ok ?? true;
  const pending = s?.pending_restart ?? status.config.pending_restart ?? [];
  const reload = async () => {
    setDone('');
    setProblem(undefined);
    try {
      await request('POST', '/v1/config:reload');
      setDone('Read again; it is in force.');
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Panel title="Last load" aside={mayOperate.value && <button type="button" onClick={() => void reload()}>Reload the file</button>}>
      <dl class="pairs wide">
        <div><dt>result</dt><dd><span class={`chip t-${ok ? 'good' : 'bad'}`}>{ok ? 'in force' : 'refused; the one from before stays'}</span></dd></div>
        {s?.last_load_time && <div><dt>time</dt><dd>{dateTime(s.last_load_time)}</dd></div>}
        <div><dt>hash</dt><dd class="mono">{s?.hash ?? status.config.hash}</dd></div>
        <div><dt>state</dt><dd>{words(status.state)}</dd></div>
        <div><dt>version</dt><dd>{status.version}</dd></div>
      </dl>
      {(s?.errors ?? []).map((e) => <p key={e.pointer + e.detail} class="note t-bad"><span class="mono">{e.file}:{e.line}:{e.column} {e.pointer}</span> {e.detail}</p>)}
      {pending.length > 0 && <div class="note t-warn"><b>Changed in the file, waiting for a restart of the controller:</b><ul class="plain">{pending.map((line) => <li key={line}><code>{line.replace(' -> ', ' → ')}</code></li>)}</ul></div>}
      {done && <p class="note t-good" role="status">{done}</p>}
      {problem && <ProblemView problem={problem} />}
    </Panel>
  );
}

function Effective({ config, pending }: { config: Resource<unknown>; pending: string[] }) {
  const [changedOnly, setChangedOnly] = useState(false);
  if (config.problem?.status === 404) {
    return <Panel title="Effective settings"><p class="pad faint">This controller does not tell its settings. The settings of each dependency stand on its page.</p></Panel>;
  }
  if (config.problem && (config.problem.status === 401 || config.problem.status === 403)) return <Panel title="Effective settings"><TokenPrompt problem={config.problem} /></Panel>;
  const toggle = <label class="inline"><input type="checkbox" checked={changedOnly} onChange={() => setChangedOnly(!changedOnly)} /> only what is not a default</label>;
  return (
    <Panel title="Effective settings" class="flush" aside={toggle}>
      <Show of={config}>{(body: unknown) => {
        const all = entries(body);
        if (all.length === 0) return <pre tabIndex={0}>{JSON.stringify(body, null, 2)}</pre>;
        return <Table label="Settings" rows={all.filter((e) => !changedOnly || e.source !== 'DEFAULT')} columns={columns(pending)} id={(e) => e.key} height={28} />;
      }}</Show>
    </Panel>
  );
}

export function Config({ status }: { status: Resource<Status> }) {
  const load = useResource<ConfigStatus>('/v1/config/status', { every: 5000 });
  const config = useResource<unknown>('/v1/config', { every: 15_000 });
  // "agents.sync_min 50ms -> 60ms", or the key alone.
  const pending = (load.data?.pending_restart ?? status.data?.config.pending_restart ?? []).map((line) => line.split(' ')[0]!);
  return (
    <>
      <PageHead title="Configuration" sub="What is in force, and where it comes from" paths={['/v1/config', '/v1/config/status', '/v1/openapi.json']}>
        {token.value && <button type="button" onClick={() => setToken('')}>Forget the token</button>}
        <a class="button" href={apiUrl('/v1/openapi.json')} target="_blank" rel="noreferrer">API contract</a>
      </PageHead>
      <Show of={status}>{(s: Status) => <Load status={s} s={load.data} />}</Show>
      {config.data !== undefined && <Access body={config.data} />}
      <Effective config={config} pending={pending} />
    </>
  );
}
