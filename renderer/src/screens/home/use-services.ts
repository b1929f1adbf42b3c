import type { ShownLead } from '../../../../server/contract/leads.ts';
import type { PlatformPulse, ShownFault } from '../../../../server/contract/window.ts';
import { useAllOfType } from '../../api/all-of-type.ts';
import { useContainerNews } from '../../api/container-news.ts';
import { live } from '../../api/live.ts';
import { type PlatformStatus, usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { perMinute } from '../../api/traffic.ts';
import { type PlatformRecord, useScope, useWorld } from '../../api/world.ts';
import { useNowMs } from '../../parts/amount.tsx';
import { counted } from '../../parts/amounts.ts';
import type { Condition } from '../../parts/state.tsx';
import type { Place } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { conditionOf, reasonOf } from '../containers/container-status.ts';
import type { RunSummary } from '../pipelines/use-pipelines.ts';

/** A part of the platform, as Home shows it. */
export interface Service {
  name: string;
  /** Where one sees more of it. */
  place: Place;
  condition: Condition;
  word: string;
  address?: string | undefined;
  facts: string;
  /** One and several of what `perMinute` counts; default: requests. */
  counted?: readonly [string, string];
  /** How many in each of the last minutes, the oldest first; undefined where nobody counts. */
  perMinute?: readonly number[] | undefined;
  lastError?: { text: string; place: Place } | undefined;
}

/** How far back the small lines go. */
const MINUTES = 30;
/** In place of an engine's address: the configuration wants none. */
const NO_ENGINE = 'none';
/** Requests move the counts on as they come; a minute in which nothing comes does so, too. */
const REFRESH_MS = 15_000;
const HERE: Place = { screen: 'containers' };

/** Every service with its state and its latest doings. */
export function useServices(): Service[] {
  const isLost = useValue(live.connection) === 'lost';
  const { data, isError } = usePlatformStatus();
  const status = isError ? undefined : data;
  const nowMs = useNowMs();
  const pulse: PlatformPulse['services'] =
    useRead(keys.traffic, '/inspect/pulse', {}, { refetchInterval: REFRESH_MS }).data?.services ?? {};
  const { orgs } = useScope();
  const users = useWorld<unknown[]>('/root/users').data?.length ?? 0;
  // Wherever they are: what is not well concerns whoever looks at the whole.
  const { records: containers, refetch } = useAllOfType('containers');
  useContainerNews(refetch);
  const leads = useRead(keys.leads, '/inspect/leads').data;
  const refused = useRead(keys.leads, '/inspect/leads', { refused: true }).data ?? [];
  const scm = useRead(keys.pipelines, '/inspect/scm').data;
  const [lastRun] = useRead(keys.pipelines, '/inspect/pipelines').data ?? [];

  const stateOf = (service: string) => stateIn(status, service, isLost);
  const engine = status?.engines[0];
  const broken = containers.filter((record) => ['warning', 'error'].includes(conditionOf(record)));
  const [worst] = broken;
  const ready = engine?.state === 'ready';
  const isAway = engine === undefined || engine.address === NO_ENGINE;
  const { resources, security, gateway } = pulse;
  return [
    {
      name: 'Resource service',
      place: { screen: 'resources' },
      ...stateOf('resources'),
      address: status?.addresses.metaUrl,
      facts: status
        ? `${status.store.resources === undefined ? '' : `${counted(status.store.resources, 'resource')} in `}${counted(orgs.length, 'organization')}, commit ${status.store.seq}`
        : '',
      perMinute: resources?.perMinute,
      lastError: faultOf(resources?.lastFault, 'control'),
    },
    {
      name: 'Security service',
      place: { screen: 'settings', search: { tab: 'access' } },
      ...stateOf('security'),
      address: status?.addresses.securityUrl,
      facts: counted(users, 'user'),
      perMinute: security?.perMinute,
      lastError: faultOf(security?.lastFault, 'control'),
    },
    {
      name: 'Gateway',
      place: { screen: 'gateway' },
      ...stateOf('gateway'),
      address: status?.addresses.gatewayUrl,
      facts: `${counted(gateway?.total ?? 0, 'request')} since the start`,
      perMinute: gateway?.perMinute,
      lastError: faultOf(gateway?.lastFault, undefined),
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
            : { condition: 'idle' as const, word: isAway ? 'no engine' : `engine ${engine.state}` }),
      address: isAway ? undefined : engine.address,
      facts: `${counted(containers.length, 'container')}${engine?.version ? `, ${engine.version}` : ''}`,
      counted: ['event', 'events'],
      perMinute: pulse.containers?.perMinute,
      lastError: troubleOf(worst) ?? (engine?.reason && !isAway ? { text: engine.reason, place: HERE } : undefined),
    },
    {
      name: 'CRM stand-in',
      place: { screen: 'leads' },
      ...(refused.length > 0 && !isLost
        ? { condition: 'error' as const, word: counted(refused.length, 'form refused', 'forms refused') }
        : stateOf('crm')),
      address: status?.addresses.crmUrl,
      facts: `${counted(leads?.length ?? 0, 'lead')} caught`,
      counted: ['lead', 'leads'],
      perMinute:
        leads &&
        perMinute(
          leads.map(({ receivedAt }) => Date.parse(receivedAt)),
          nowMs,
          MINUTES,
        ),
      lastError: refusalOf(refused.at(-1)),
    },
    {
      name: 'Source control stand-in',
      place: { screen: 'pipelines' },
      ...stateOf('scm'),
      address: status?.addresses.scmUrl,
      facts: counted(scm?.projects.length ?? 0, 'project'),
      perMinute: pulse.scm?.perMinute,
      lastError: failedRun(lastRun) ?? scmFault(pulse.scm?.lastFault),
    },
  ];
}

/** The newest form that the CRM did not take: where it stands, and why. */
function refusalOf(form: ShownLead | undefined): Service['lastError'] {
  return form?.refused && { text: form.refused.message, place: { screen: 'leads', search: { sel: form.id } } };
}

/** Where the request that went wrong is shown whole. */
function faultOf(fault: ShownFault | undefined, plane: string | undefined): Service['lastError'] {
  if (!fault) return undefined;
  const { method, target, status, seq, executionId } = fault;
  const text = `${status ?? 'no answer'} ${method} ${target}`;
  if (executionId !== undefined) return { text, place: { screen: 'invocations', search: { sel: executionId } } };
  return { text, place: { screen: 'gateway', search: { plane, ...(seq !== undefined && { sel: String(seq) }) } } };
}

function failedRun(run: RunSummary | undefined): Service['lastError'] {
  if (run?.state !== 'failed') return undefined;
  const job = run.jobs.find(({ state }) => state === 'failed');
  const what = job ? `${job.name} failed, exit code ${job.exitCode ?? 'unknown'}` : 'failed';
  return { text: `${run.branch}: ${what}`, place: { screen: 'pipelines', search: { sel: run.id } } };
}

function scmFault(fault: ShownFault | undefined): Service['lastError'] {
  return fault && { text: `${fault.status} ${fault.method} ${fault.target}`, place: { screen: 'pipelines' } };
}

function troubleOf(container: PlatformRecord | undefined): Service['lastError'] {
  return (
    container && {
      text: `${container.name}: ${reasonOf(container) ?? String(container.properties.status).toLowerCase()}`,
      place: { screen: 'containers', search: { sel: container.id } },
    }
  );
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
