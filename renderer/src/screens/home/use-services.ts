import type { LeadView } from '../../../../server/api/routes/leads.ts';
import type { RecordedCall } from '../../../../server/api/routes/recorded-parts.ts';
import type { FaultView, PlatformPulse } from '../../../../server/api/routes/window.ts';
import { useAllOfType } from '../../api/all-of-type.ts';
import { live } from '../../api/live.ts';
import { type Need, useMissingOf, useSeesAll } from '../../api/permissions.tsx';
import { type PlatformStatus, usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { perMinute } from '../../api/traffic.ts';
import { type PlatformRecord, useScope, useWorld } from '../../api/world.ts';
import { useNowMs } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import type { Condition } from '../../components/state.tsx';
import type { WindowLocation } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { conditionOf, reasonOf } from '../containers/container-status.ts';
import { useMails } from '../mails/use-mails.ts';
import type { RunSummary } from '../pipelines/use-pipelines.ts';

/** A part of the platform, as Home shows it. */
export interface Service {
  name: string;
  /** The location that shows more of it. */
  location: WindowLocation;
  condition: Condition;
  stateText: string;
  address?: string | undefined;
  facts: string;
  /** One and several of what `perMinute` counts; default: requests. */
  counted?: readonly [string, string];
  /** The counts of the last minutes, the oldest first; undefined if nothing is counted. */
  perMinute?: readonly number[] | undefined;
  lastError?: { text: string; location: WindowLocation } | undefined;
  /** The reason that some of this is not shown to the user. */
  withheld?: string | undefined;
}

/** The range of the small charts, in minutes. */
const MINUTES = 30;
/** Requests move the counts on as they come; a minute in which nothing comes does so, too. */
const REFRESH_MS = 15_000;
const CONTAINERS_PLACE: WindowLocation = { screen: 'containers' };

/** Every service with its state and its latest doings. */
export function useServices(): Service[] {
  const isLost = useValue(live.connection) === 'lost';
  const { data, isError } = usePlatformStatus();
  const status = isError ? undefined : data;
  const nowMs = useNowMs();
  const pulse: PlatformPulse['services'] =
    useRead(keys.traffic, '/inspect/pulse', {}, { refetchInterval: REFRESH_MS }).data?.services ?? {};
  const { orgs } = useScope();
  const users = useWorld<unknown[]>('/root/users').data;
  const missing = useMissingOf();
  // Of errors and of figures without a resource, only users who view everything learn.
  const part = missing('all');
  const textIfPermitted = (text: string, need: Need) => (missing(need) === undefined ? text : '');
  // In any scope: platform-wide viewers need to see every problem.
  const { records: containers } = useAllOfType('containers');
  const leads = useRead(keys.leads, '/inspect/leads').data;
  const forms = useRead(keys.leads, '/inspect/leads', { refused: true }).data ?? [];
  const mails = useMails().data;
  // A form that was delivered later does not count as lost.
  const refused = forms.filter(({ deliveredAs }) => !deliveredAs);
  const [warned] = useRead(keys.invocations, '/inspect/outbound-calls', { q: 'is:warned', limit: 1 }).data?.calls ?? [];
  // A form that arrived since shows that the problem is fixed.
  const lostForm = warned && !leads?.some(({ receivedAt }) => receivedAt > warned.startedAt) ? warned : undefined;
  const scm = useRead(keys.pipelines, '/inspect/scm', {}, { enabled: useSeesAll() }).data;
  const [lastRun] = useRead(keys.pipelines, '/inspect/pipelines').data ?? [];

  const stateOf = (service: string) => stateIn(status, service, isLost);
  const engine = status?.engines[0];
  const broken = containers.filter((record) => ['warning', 'error'].includes(conditionOf(record)));
  const [worst] = broken;
  const ready = engine?.state === 'ready';
  const isAway = engine === undefined || engine.state === 'off';
  const { resources, security, gateway } = pulse;
  return [
    {
      name: 'Resource service',
      withheld: part,
      location: { screen: 'resources' },
      ...stateOf('resources'),
      address: status?.addresses.metaUrl,
      facts: status
        ? `${status.store.resources === undefined ? '' : `${counted(status.store.resources, 'resource')} in `}${textIfPermitted(`${counted(orgs.length, 'organization')}, `, 'org.view')}commit ${status.store.seq}`
        : '',
      perMinute: resources?.perMinute,
      lastError: faultOf(resources?.lastFault, 'control'),
    },
    {
      name: 'Security service',
      withheld: part,
      location: { screen: 'settings', search: { tab: 'access' } },
      ...stateOf('security'),
      address: status?.addresses.securityUrl,
      facts: users ? textIfPermitted(counted(users.length, 'user'), 'all') : '',
      perMinute: security?.perMinute,
      lastError: faultOf(security?.lastFault, 'control'),
    },
    {
      name: 'Gateway',
      withheld: part,
      location: { screen: 'gateway' },
      ...stateOf('gateway'),
      address: status?.addresses.gatewayUrl,
      facts: gateway ? `${counted(gateway.total, 'request')} since the start` : '',
      perMinute: gateway?.perMinute,
      lastError: faultOf(gateway?.lastFault, undefined),
    },
    {
      name: 'Containers',
      withheld: missing('container.view'),
      location: { screen: 'containers' },
      ...(isLost || !status
        ? stateOf('containers')
        : worst
          ? { condition: 'warning' as const, stateText: `${broken.length} with problems` }
          : ready
            ? { condition: 'ok' as const, stateText: 'ready' }
            : { condition: 'idle' as const, stateText: isAway ? 'no engine' : `engine ${engine.state}` }),
      address: isAway ? undefined : engine.address || undefined,
      facts: `${textIfPermitted(counted(containers.length, 'container'), 'container.view')}${engine?.version ? `, ${engine.version}` : ''}`,
      counted: ['event', 'events'],
      perMinute: pulse.containers?.perMinute,
      lastError:
        lastErrorOf(worst) ??
        (engine?.reason && !isAway ? { text: engine.reason, location: CONTAINERS_PLACE } : undefined),
    },
    {
      name: 'Mock CRM',
      location: { screen: 'leads' },
      ...(refused.length > 0 && !isLost
        ? { condition: 'error' as const, stateText: counted(refused.length, 'form rejected', 'forms rejected') }
        : lostForm && !isLost
          ? { condition: 'warning' as const, stateText: 'form not caught' }
          : stateOf('crm')),
      address: status?.addresses.crmUrl,
      facts: leads ? textIfPermitted(`${counted(leads.length, 'lead')} received`, 'lambda.view') : '',
      withheld: missing('lambda.view'),
      counted: ['lead', 'leads'],
      perMinute: leads && perMinute(leads.map(receivedMs), nowMs, MINUTES),
      lastError: warningOf(lostForm) ?? refusalOf(refused.at(-1)),
    },
    {
      name: 'Mock mail server',
      location: { screen: 'mails' },
      ...stateOf('smtp'),
      address: status?.addresses.smtpUrl,
      facts: mails ? textIfPermitted(`${counted(mails.length, 'mail')} received`, 'lambda.view') : '',
      withheld: missing('lambda.view'),
      counted: ['mail', 'mails'],
      perMinute: mails && perMinute(mails.map(receivedMs), nowMs, MINUTES),
    },
    {
      name: 'Mock GitLab',
      withheld: part,
      location: { screen: 'pipelines' },
      ...stateOf('scm'),
      address: status?.addresses.scmUrl,
      facts: scm ? counted(scm.projects.length, 'project') : '',
      perMinute: pulse.scm?.perMinute,
      lastError: failedRun(lastRun) ?? scmFault(pulse.scm?.lastFault),
    },
  ];
}

const receivedMs = ({ receivedAt }: { receivedAt: string }) => Date.parse(receivedAt);

/** The newest form that the CRM rejected: its place and the reason. */
function refusalOf(form: LeadView | undefined): Service['lastError'] {
  return form?.refused && { text: form.refused.message, location: { screen: 'leads', search: { sel: form.id } } };
}

/** A form of a lambda that made no lead here. */
function warningOf(call: RecordedCall | undefined): Service['lastError'] {
  if (call?.warning === undefined) return undefined;
  return { text: call.warning, location: { screen: 'invocations', search: { sel: call.executionId } } };
}

/** Returns the text of a failed request and the location that shows the request in full. */
function faultOf(fault: FaultView | undefined, plane: string | undefined): Service['lastError'] {
  if (!fault) return undefined;
  const { method, target, status, seq, executionId } = fault;
  const text = `${status ?? 'no response'} ${method} ${target}`;
  if (executionId !== undefined) return { text, location: { screen: 'invocations', search: { sel: executionId } } };
  return { text, location: { screen: 'gateway', search: { plane, ...(seq !== undefined && { sel: String(seq) }) } } };
}

function failedRun(run: RunSummary | undefined): Service['lastError'] {
  if (run?.state !== 'failed') return undefined;
  const job = run.jobs.find(({ state }) => state === 'failed');
  const description = job ? `${job.name} failed, exit code ${job.exitCode ?? 'unknown'}` : 'failed';
  return { text: `${run.branch}: ${description}`, location: { screen: 'pipelines', search: { sel: run.id } } };
}

function scmFault(fault: FaultView | undefined): Service['lastError'] {
  return fault && { text: `${fault.status} ${fault.method} ${fault.target}`, location: { screen: 'pipelines' } };
}

function lastErrorOf(container: PlatformRecord | undefined): Service['lastError'] {
  return (
    container && {
      text: `${container.name}: ${reasonOf(container) ?? String(container.properties.status).toLowerCase()}`,
      location: { screen: 'containers', search: { sel: container.id } },
    }
  );
}

function stateIn(
  status: PlatformStatus | undefined,
  service: string,
  isLost: boolean,
): { condition: Condition; stateText: string } {
  if (isLost) return { condition: 'error', stateText: 'not reachable' };
  if (!status) return { condition: 'idle', stateText: 'asking' };
  const serviceState = status.services[service] ?? 'not there';
  return serviceState === 'running'
    ? { condition: 'ok', stateText: serviceState }
    : { condition: 'idle', stateText: serviceState };
}
