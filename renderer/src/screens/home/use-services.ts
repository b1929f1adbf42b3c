import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { live } from '../../api/live.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { type PlatformRecord, useScope, useWorld } from '../../api/world.ts';
import type { Condition } from '../../parts/state.tsx';
import type { Place } from '../../url.ts';
import { useValue } from '../../value-store.ts';

/** A part of the platform, as Home shows it. */
export interface Service {
  name: string;
  /** Where one sees more of it. */
  place: Place;
  condition: Condition;
  word: string;
  address: string | undefined;
  facts: string;
  /** Requests in each of the last minutes, the oldest first; undefined while nobody counts. */
  perMinute?: readonly number[] | undefined;
  lastError?: { text: string; place: Place } | undefined;
}

const count = (amount: number, one: string, many = `${one}s`) =>
  `${amount.toLocaleString('en')} ${amount === 1 ? one : many}`;

/** Every service with its state, from the platform's status and from what can be read anyway. */
export function useServices(): Service[] {
  const connection = useValue(live.connection);
  const status = usePlatformStatus().data;
  const { orgs, scope } = useScope();
  const { fqon } = scope;
  const users = useWorld<unknown[]>('/root/users').data?.length ?? 0;
  const endpoints =
    useWorld<PlatformRecord[]>(`/${fqon === 'root' ? 'demo' : fqon}/apiendpoints`, { expand: true }).data ?? [];
  const containers = useWorld<PlatformRecord[]>(`/${fqon}/containers`, { expand: true }).data ?? [];
  const leads = useQuery({
    queryKey: [keys.leads, 'all'],
    queryFn: ({ signal }) => load<unknown[]>('/inspect/leads', {}, signal),
  }).data;
  const scm = useQuery({
    queryKey: [keys.pipelines, 'scm'],
    queryFn: ({ signal }) => load<{ url: string; projects: unknown[] }>('/inspect/scm', {}, signal),
  }).data;

  const isLost = connection === 'lost';
  const up = { condition: isLost ? 'error' : 'ok', word: isLost ? 'not reachable' : 'up' } as const;
  const publicUrl = endpoints.map(({ properties }) => properties.public_url).find((url) => typeof url === 'string');
  const broken = containers.filter(({ properties }) => BAD.has(String(properties.status)));
  const [worst] = broken;
  void status;
  return [
    {
      name: 'Resource service',
      place: { screen: 'resources' },
      ...up,
      address: `${location.origin}/meta`,
      facts: `${count(orgs.length, 'organization')}`,
    },
    {
      name: 'Security service',
      place: { screen: 'settings', search: { tab: 'access' } },
      ...up,
      address: `${location.origin}/security`,
      facts: count(users, 'user'),
    },
    {
      name: 'Gateway',
      place: { screen: 'gateway' },
      ...up,
      address: typeof publicUrl === 'string' ? new URL(publicUrl).origin : undefined,
      facts: count(endpoints.length, 'endpoint'),
    },
    {
      name: 'Containers',
      place: { screen: 'containers' },
      condition: worst ? 'warning' : up.condition,
      word: worst ? `${count(broken.length, 'container')} not well` : up.word,
      address: undefined,
      facts: count(containers.length, 'container'),
      lastError: worst && {
        text: `${worst.name}: ${String(worst.properties.status_detail ?? worst.properties.status)}`,
        place: { screen: 'containers', search: { sel: worst.id } },
      },
    },
    {
      name: 'CRM stand-in',
      place: { screen: 'leads' },
      ...up,
      address: undefined,
      facts: leads ? `${count(leads.length, 'lead')} caught` : 'Catches the forms that lambdas send',
    },
    {
      name: 'Source control stand-in',
      place: { screen: 'pipelines' },
      condition: scm ? up.condition : 'idle',
      word: scm ? up.word : 'not there',
      address: scm?.url,
      facts: scm ? count(scm.projects.length, 'project') : 'Takes what pipelines tell of themselves',
    },
  ];
}

/** Statuses of containers that ask for someone to look. */
const BAD = new Set(['UNHEALTHY', 'LOST', 'FAILED']);
