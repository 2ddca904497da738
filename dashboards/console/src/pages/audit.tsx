// Who changed what: the controller's audit records. Nothing where it has no such list, or tells it only to
// others.
import { useEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { get, token } from '../api';
import { dateTime, setting, words } from '../format';
import { useReader } from '../resource';
import { AuditRecord, List } from '../types';
import { Panel } from '../ui';

const PATH = '/v1/audit?page_size=50';
// The token that was told no; asked again with another.
const refused = signal<string | undefined>(undefined);

function Difference({ before, after }: { before: unknown; after: unknown }) {
  const empty = (value: unknown) => value === null || value === undefined || value === '';
  if (empty(before) && empty(after)) return <span class="faint">–</span>;
  return <>{!empty(before) && <><del>{setting(before)}</del> → </>}{empty(after) ? <span class="faint">gone</span> : <b>{setting(after)}</b>}</>;
}

export function Audit() {
  const list = useReader<List<AuditRecord>>(refused.value === token.value ? null : PATH, (etag) => get(PATH, etag), { every: 10_000 });
  const status = list.problem?.status ?? 0;
  useEffect(() => { if (status >= 400 && status < 500 && status !== 429) refused.value = token.value; }, [status]);
  const rows = list.data?.items;
  if (!rows || !Array.isArray(rows)) return null;
  return (
    <Panel title="Changes by people" aside={<span class="faint">who set what, newest first</span>} class="flush">
      {rows.length === 0 ? <p class="faint pad">Nobody has changed anything.</p> : (
        <div class="scroll low" tabIndex={0} role="group" aria-label="Changes by people, rows">
          <table class="grid loose audit" aria-label="Changes by people">
            <thead><tr><th scope="col">Time</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Target</th><th scope="col" class="wide">Before → after</th><th scope="col">Result</th><th scope="col">Request</th></tr></thead>
            <tbody>
              {rows.map((row) => (
                <tr key={`${row.request_id}${row.time}${row.target}`}>
                  <td class="faint">{dateTime(row.time)}</td><td class="strong">{row.who}</td><td>{words(row.what)}</td><td>{row.target}</td>
                  <td class="wide mono"><Difference before={row.before} after={row.after} /></td><td>{setting(row.result)}</td><td class="faint mono">{row.request_id}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
