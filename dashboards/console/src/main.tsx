import { render } from 'preact';
import { useState } from 'preact/hooks';
import '@preact/signals';
import * as live from './live';
import { Config } from './pages/config';
import { DependencyPage } from './pages/dependency';
import { EventPage, Events } from './pages/events';
import { Fleet } from './pages/fleet';
import { Instances } from './pages/instances';
import { QuotaPage } from './pages/quota';
import { Resource, useResource } from './resource';
import * as role from './role';
import * as router from './router';
import { Banner, Help, Search, TopBar, useKeys } from './shell';
import * as theme from './theme';
import { Status } from './types';
import { Empty, TokenPrompt } from './ui';

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function Page({ status }: { status: Resource<Status> }) {
  // Who may not even read this may read nothing: one question instead of one for each part of a page.
  const denied = status.problem && (status.problem.status === 401 || status.problem.status === 403) ? status.problem : undefined;
  if (denied) return <><h1 tabIndex={-1}>Plimsoll</h1><TokenPrompt problem={denied} /></>;
  const [first = '', second, ...more] = router.place.value.path.split('/');
  if (more.length === 0) {
    if (first === 'dependencies' && second) return <DependencyPage key={second} name={decode(second)} />;
    if (first === 'events' && second) return <EventPage key={second} id={decode(second)} />;
    if (second === undefined) {
      switch (first) {
        case '': case 'dependencies': return <Fleet status={status} />;
        case 'instances': return <Instances />;
        case 'quota': return <QuotaPage />;
        case 'events': return <Events />;
        case 'config': return <Config status={status} />;
      }
    }
  }
  return <Empty title="There is no such page" top><p><a href={router.href('')}>To the fleet</a></p></Empty>;
}

const NAMES: Record<string, string> = { '': 'Fleet', instances: 'Instances', quota: 'Quota', events: 'Events', config: 'Configuration' };

function App() {
  // On every page: it tells that the controller is there.
  const status = useResource<Status>('/v1/status');
  const [open, setOpen] = useState<'search' | 'help' | ''>('');
  useKeys(() => setOpen('search'), () => setOpen('help'));
  const { path } = router.place.value;
  document.title = `${NAMES[path] ?? decode(path.split('/').at(-1) ?? '')} · Plimsoll`;
  return (
    <>
      <TopBar search={() => setOpen('search')} help={() => setOpen('help')} />
      <Banner status={status.data} />
      <main id="main" tabIndex={-1} class={live.stale.value ? 'stale' : ''}><Page status={status} /></main>
      {open === 'search' && <Search close={() => setOpen('')} />}
      {open === 'help' && <Help close={() => setOpen('')} />}
    </>
  );
}

theme.start();
router.start();
role.start();
live.start();
render(<App />, document.getElementById('app')!);
