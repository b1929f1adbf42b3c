import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';
import { live } from '../../api/live.ts';
import { type PlatformStatus, usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { perMinute, useTraffic } from '../../api/traffic.ts';
import { type PlatformRecord, useScope, useWorld } from '../../api/world.ts';
import { useNowMs } from '../../parts/amount.tsx';
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
  address?: string | undefined;
  facts: string;
  /** Of what `perMinute` counts, e.g. `requests`. */
  counted?: string;
  /** How many in each of the last minutes, the oldest first; undefined where nobody counts. */
  perMinute?: readonly number[] | undefined;
  lastError?: { text: string; place: Place } | undefined;
}

/** How far back the small lines go. */
const MINUTES = 30;
/** Statuses of containers that ask for someone to look. */
const BAD = new Set(['UNHEALTHY', 'LOST', 'FAILED']);

const count = (amount: number, one: string, many = `${one}s`) =>
  `${amount.toLocaleString('en')} ${amount === 1 ? one : many}`;

/** Every service with its state and its latest doings. */
export function useServices(): Service[] {
  const isLost = useValue(live.connection) === 'lost';
  const status = usePlatformStatus().data;
  const nowMs = useNowMs();
  const { orgs, scope } = useScope();
  const users = useWorld<unknown[]>('/root/users').data?.length ?? 0;
  const containers = useWorld<PlatformRecord[]>(`/${scope.fqon}/containers`, { expand: true }).data ?? [];
  const requests = useTraffic({ plane: 'gateway' }).rows;
  const leads = useQuery({
    queryKey: [keys.leads, 'all'],
    queryFn: ({ signal }) => load<{ at?: string; receivedAt?: string }[]>('/inspect/leads', {}, signal),
  }).data;
  const scm = useQuery({
    queryKey: [keys.pipelines, 'scm'],
    queryFn: ({ signal }) => load<{ url: string; projects: unknown[] }>('/inspect/scm', {}, signal),
  }).data;

  const stateOf = (service: string) => stateIn(status, service, isLost);
  const engine = status?.engines[0];
  const failed = requests.find((request) => request.status === undefined || request.status >= 500);
  const broken = containers.filter(({ properties }) => BAD.has(String(properties.status)));
  const [worst] = broken;
  const ready = engine?.state === 'ready';
  return [
    {
      name: 'Resource service',
      place: { screen: 'resources' },
      ...stateOf('resources'),
      address: status?.addresses.metaUrl,
      facts: status
        ? `${count(status.store.resources, 'resource')} in ${count(orgs.length, 'organization')}, commit ${status.store.seq}`
        : '',
    },
    {
      name: 'Security service',
      place: { screen: 'settings', search: { tab: 'access' } },
      ...stateOf('security'),
      address: status?.addresses.securityUrl,
      facts: count(users, 'user'),
    },
    {
      name: 'Gateway',
      place: { screen: 'gateway' },
      ...stateOf('gateway'),
      address: status?.addresses.gatewayUrl,
      facts: `${count(requests.length, 'request')} kept`,
      counted: 'requests',
      perMinute: perMinute(
        requests.map(({ at }) => Date.parse(at)),
        nowMs,
        MINUTES,
      ),
      lastError: failed && {
        text: `${failed.status ?? 'no answer'} ${failed.method} ${failed.target}`,
        place: failed.executionId
          ? { screen: 'invocations', search: { sel: failed.executionId } }
          : { screen: 'gateway' },
      },
    },
    {
      name: 'Containers',
      place: { screen: 'containers' },
      ...(isLost || !status
        ? stateOf('containers')
        : worst
          ? { condition: 'warning' as const, word: `${broken.length} not well` }
          : ready
            ? { condition: 'ok' as const, word: 'engine ready' }
            : { condition: 'idle' as const, word: engine ? `engine ${engine.state}` : 'no engine' }),
      address: engine?.address,
      facts: `${count(containers.length, 'container')}${engine?.version ? `, ${engine.version}` : ''}`,
      lastError: worst && {
        text: `${worst.name}: ${String(worst.properties.status_detail ?? worst.properties.status)}`,
        place: { screen: 'containers', search: { sel: worst.id } },
      },
    },
    {
      name: 'CRM stand-in',
      place: { screen: 'leads' },
      ...stateOf('crm'),
      address: status?.addresses.crmUrl,
      facts: `${count(leads?.length ?? 0, 'lead')} caught`,
      counted: 'leads',
      perMinute:
        leads &&
        perMinute(
          leads.map(({ at, receivedAt }) => Date.parse(at ?? receivedAt ?? '')),
          nowMs,
          MINUTES,
        ),
    },
    {
      name: 'Source control stand-in',
      place: { screen: 'pipelines' },
      ...stateOf('scm'),
      address: status?.addresses.scmUrl,
      facts: count(scm?.projects.length ?? 0, 'project'),
    },
  ];
}

function stateIn(
  status: PlatformStatus | undefined,
  service: string,
  isLost: boolean,
): { condition: Condition; word: string } {
  if (isLost) return { condition: 'error', word: 'not reachable' };
  if (!status) return { condition: 'idle', word: 'asking' };
  const said = status.services[service] ?? 'not there';
  return said === 'running' ? { condition: 'ok', word: said } : { condition: 'idle', word: said };
}
