import { randomUUID } from 'node:crypto';
import type { Router } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import type { WindowSessions } from '../access/window-sessions.ts';
import type { Config } from '../config-schema.ts';
import { PipelineRuns } from '../delivery/pipeline-runs.ts';
import { TimeMachine } from '../history/time-machine.ts';
import { offencesOf } from '../history/world-rules.ts';
import type { LambdaService } from '../lambdas/lambda-service.ts';
import type { Authenticator } from '../model/caller.ts';
import { offenceOfHostPath } from '../model/types/volume.ts';
import type { Credentials } from '../security/credentials.ts';
import { hashPassword } from '../security/passwords.ts';
import { parseLead, parseLeadFilter } from '../standins/lead.ts';
import type { ScmProject } from '../standins/scm/scm-state.ts';
import { callsOf } from '../traffic/calls-since.ts';
import type { LimitUse } from '../traffic/endpoint-activity.ts';
import { OutboundRules } from '../workbench/outbound-rules.ts';
import type { Terminals } from '../workbench/terminals.ts';
import type { Addresses } from './addresses.ts';
import type { Containers } from './container-life.ts';
import type { Core } from './core.ts';
import type { Data } from './data.ts';
import { freshWorlds } from './first-world.ts';
import { type InspectorOptions, inspectorRoutes } from './inspection-routes.ts';
import { hostsOf } from './listeners.ts';
import { scmInspection } from './scm-place.ts';
import { accessDesk, settingsDesk } from './settings-desk.ts';
import type { StandIns } from './stand-ins.ts';
import { statusOf } from './status.ts';
import type { Watch } from './watch.ts';
import { windowKeys } from './window-keys.ts';
import { sessionTokens } from './window-sign-in.ts';
import { indexing } from './world-indexing.ts';
import { WorldSeeds } from './world-seeds.ts';

/** The running parts that the inspector looks into. */
export interface InspectedParts {
  config: Config;
  /** Where each setting came from, by its key. */
  origins: ReadonlyMap<string, string>;
  /** The seed of a first start, when it was handed in. */
  seed: object | undefined;
  addresses: Addresses;
  data: Data;
  core: Core;
  authenticator: Authenticator;
  credentials: Credentials;
  /** Root's first key, once it is known. */
  firstKey(): string | undefined;
  lambdas: LambdaService;
  gateway: { limitUses(): LimitUse[] };
  containers: Containers;
  terminals: Terminals;
  standIns: StandIns;
  outboundRules: OutboundRules;
  pipelines: PipelineRuns;
  workbench: InspectorOptions['workbench'];
  watch: Watch;
  sessions: WindowSessions;
  pipelineStarter: InspectorOptions['delivery']['starter'];
  nowMs(): number;
  onWarning(message: string): void;
  onFault(fault: unknown): void;
}

/** Rules about the calls of lambdas, as they are kept; `applied` is called after each change. */
export function keptOutboundRules(data: Data, watch: Watch, applied: () => void): OutboundRules {
  return new OutboundRules({
    log: data.outbound,
    newId: randomUUID,
    onChange: (before, after) => {
      applied();
      watch.onOutboundRules(before, after);
    },
  });
}

const maskedValues = (project: ScmProject | undefined) =>
  (project?.variables ?? []).filter(({ masked }) => masked).map(({ value }) => value);

/** The runs of pipelines, as they are kept; those that were under way when the platform ended are ended. */
export async function keptPipelineRuns(
  parts: Pick<InspectedParts, 'data' | 'watch' | 'nowMs' | 'onFault'>,
): Promise<PipelineRuns> {
  const { data, watch, nowMs, onFault } = parts;
  const secretsOf = (projectId: number) => maskedValues(data.scm.get(String(projectId)));
  const runs = new PipelineRuns({
    log: data.pipelines,
    nowMs,
    newId: randomUUID,
    secretsOf,
    onChange: watch.onPipelineRun,
    onDeployment: watch.onDeployment,
  });
  await runs.settle();
  watch.hearExchanges((exchange) => runs.sawExchange(exchange).catch(onFault));
  return runs;
}

/** Wires the inspector: what it looks into, and what it may do there. */
export function createInspector(parts: InspectedParts): { inspect: Router; log: Router } {
  const { config, data, core, lambdas, containers, standIns, watch, credentials, nowMs, onWarning, onFault } = parts;
  const { store, leads, results, snapshots } = data;
  const { view } = store;
  const { crm, crmUrl, scm, scmToken } = standIns;
  const scmAccess = () => ({ apiUrl: scm.apiUrl, token: scmToken });
  const addresses = parts.addresses.ours;
  const { limits, allowedHostPaths } = config;
  const ownHosts = hostsOf(config);
  const laws = { referencesOf: indexing.references, limits, allowedHostPaths, ownHosts, newId: randomUUID };
  const allAddresses = () => ({ ...addresses(), crmUrl, scmUrl: scm.url });
  return inspectorRoutes({
    view,
    authenticator: parts.authenticator,
    judge: core.judge,
    lambdaLog: lambdas,
    lines: data.keptLines,
    containerLog: containers.desk,
    containers: containers.desk,
    terminals: parts.terminals,
    invoker: lambdas,
    arrivals: watch.arrivals,
    leads: {
      list: (filter) => crm.listLeads(parseLeadFilter(filter)),
      delete: (id) => crm.deleteLead(id),
      deleteAll: () => crm.deleteLeads(),
    },
    refusalOf: (executionId) => crm.refusalOf(executionId),
    machine: new TimeMachine(store, {
      offencesOf: (changes) => offencesOf({ view, ...laws }, changes),
      offenceNow: (record) => offenceOfHostPath(record, allowedHostPaths),
    }),
    snapshots,
    keys: windowKeys(view, credentials),
    tokens: sessionTokens(view, credentials),
    archive: { leads, results, parseLead, version: manifest.version, nowMs, laws: { ...laws, hashPassword } },
    window: {
      feed: watch.feed,
      sessions: parts.sessions,
      secrets: () => [...data.scm.entries()].flatMap(([, project]) => maskedValues(project)),
      recorder: watch.recorder,
      happenings: watch.happenings,
      urlFor: (code) => windowUrlOf(parts.addresses, code),
      status: () => ({
        version: manifest.version,
        addresses: allAddresses(),
        dataDir: config.data,
        store: { seq: store.seq, resources: store.world.resources.size, ...store.health() },
        engines: containers.desk.engines(),
        processes: lambdas.stats(),
        viewers: watch.feed.viewers,
        services: statusOf(data.failures(), containers.desk.engines()).services,
      }),
      pulse: () => watch.pulse.shown(),
      endpoints: () => watch.endpoints.shown(parts.gateway.limitUses()),
    },
    settings: settingsDesk({
      config,
      origins: parts.origins,
      addresses: allAddresses,
      data,
    }),
    access: accessDesk(credentials, parts.firstKey),
    delivery: { scm: scmInspection(scm, scmToken), runs: parts.pipelines, starter: parts.pipelineStarter },
    rights: core.service,
    publishing: {
      meetings: data.meetings,
      calls: callsOf(watch.recorder),
      own: () => ({ metaUrl: `${parts.addresses.listening}/meta`, hosts: Object.values(allAddresses()).map(hostOf) }),
    },
    workbench: parts.workbench,
    outbound: { rules: parts.outboundRules, crm: config.outbound.crm },
    freshWorld: freshWorlds(config, { addresses, seed: parts.seed, nowMs, onWarning }, scmAccess),
    seeds: new WorldSeeds({ store, config, addresses, scm: scmAccess, nowMs, onWarning }),
    securityUrlFor: (req) => parts.addresses.seenBy(req).securityUrl,
    nowMs,
    gatewayUrl: () => parts.addresses.localGatewayUrl,
    onFault,
  });
}

const hostOf = (url: string): string => new URL(url).host;

/** An address of the window that signs in with a code. */
export function windowUrlOf(addresses: Addresses, code: string): string {
  return `${addresses.window()}/ui/?code=${code}`;
}
