import express, { type Router } from 'express';
import manifest from '../../package.json' with { type: 'json' };
import { accessRoutes } from '../access/access-routes.ts';
import { tokenFor, type WindowSessions } from '../access/window-sessions.ts';
import type { Config } from '../config-schema.ts';
import { deliveryRoutes } from '../delivery/delivery-routes.ts';
import type { PipelineRuns } from '../delivery/pipeline-runs.ts';
import { historyRoutes } from '../history/history-routes.ts';
import { resetRoutes } from '../history/reset-routes.ts';
import { snapshotRoutes } from '../history/snapshot-routes.ts';
import { TimeMachine } from '../history/time-machine.ts';
import { answerErrors } from '../http/answer-error.ts';
import { authenticate } from '../http/authenticate.ts';
import type { Gate } from '../http/serve.ts';
import type { LambdaService } from '../lambdas/lambda-service.ts';
import { invokeRoutes, logRoutes, plainLogRoutes } from '../logs/lambda-routes.ts';
import { lineListRoutes } from '../logs/line-list-routes.ts';
import type { Authenticator } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { PipelineService } from '../pipelines/pipeline-service.ts';
import { publishingRoutes } from '../publishing/routes.ts';
import type { Core } from '../resources/core.ts';
import { roleRoutes } from '../resources/role-routes.ts';
import type { Credentials } from '../security/credentials.ts';
import { hashPassword } from '../security/passwords.ts';
import { seedRoutes } from '../seed/seed-routes.ts';
import { worldSeeds } from '../seed/world-seeds.ts';
import { parseLead } from '../standins/lead.ts';
import { leadRoutes } from '../standins/lead-routes.ts';
import { callsOf } from '../traffic/calls-since.ts';
import type { LimitUse } from '../traffic/endpoint-activity.ts';
import { failureRoutes } from '../traffic/failure-routes.ts';
import { outboundListRoutes } from '../traffic/outbound-list-routes.ts';
import { recorderRoutes } from '../traffic/recorder-routes.ts';
import { sendingRoutes } from '../traffic/sending-routes.ts';
import { settingsRoutes } from '../window/settings-routes.ts';
import { treeRoutes } from '../window/tree-routes.ts';
import { windowRoutes } from '../window/window-routes.ts';
import { containerRoutes } from '../workbench/container-routes.ts';
import { outboundRoutes } from '../workbench/outbound-routes.ts';
import type { OutboundRules } from '../workbench/outbound-rules.ts';
import type { Terminals } from '../workbench/terminals.ts';
import { type Workbench, workbenchRoutes } from '../workbench/workbench-routes.ts';
import type { Addresses } from './addresses.ts';
import type { Containers } from './container-life.ts';
import type { Data } from './data.ts';
import { freshWorlds } from './first-world.ts';
import { maskedValues } from './kept-parts.ts';
import { coreConfigOf } from './listeners.ts';
import { settingsService } from './settings-service.ts';
import type { StandIns } from './stand-ins.ts';
import { statusOf } from './status.ts';
import type { Watch } from './watch.ts';

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
  workbench: Workbench;
  watch: Watch;
  sessions: WindowSessions;
  pipelineStarter: PipelineService;
  nowMs(): number;
  onWarning(message: string): void;
  onFault(fault: unknown): void;
}

/** What is seen of the platform beyond its contract: `/inspect/...` and the logs of `/log` (D-001, D-191, D-200). */
export function createInspector(parts: InspectedParts): { inspect: Router; log: Router } {
  const { config, data, core, lambdas, containers, standIns, watch, credentials, nowMs, onWarning, onFault } = parts;
  const { store, leads, results, snapshots, keptLines: lines } = data;
  const { view } = store;
  const { judge } = core;
  const { crm, crmUrl, scm, scmToken } = standIns;
  const { feed, recorder, happenings, arrivals } = watch;
  const scmAccess = () => ({ apiUrl: scm.apiUrl, token: scmToken });
  const addresses = parts.addresses.ours;
  const allAddresses = () => ({ ...addresses(), crmUrl, scmUrl: scm.url });
  const coreConfig = coreConfigOf(config);
  const { laws } = coreConfig;
  const machine = new TimeMachine(store, laws);
  const gate: Gate = {
    view,
    judge,
    callerOf(req) {
      const who = parts.authenticator.identify(req.headers.authorization);
      return authenticate(who, { securityUrl: parts.addresses.seenBy(req).securityUrl });
    },
  };
  const invoker = lambdas;
  const refusalOf = (executionId: string) => crm.refusalOf(executionId);
  const secrets = () => [...data.scm.entries()].flatMap(([, project]) => maskedValues(project));
  const logs = { lambdaLog: lambdas, containerLog: containers.operations, arrivals };
  const inspect = express.Router({ caseSensitive: true });
  inspect.use(
    leadRoutes(crm, arrivals, gate),
    invokeRoutes(invoker, gate),
    logRoutes(logs, gate),
    lineListRoutes({ lines, recorder, secrets, nowMs }, gate),
    containerRoutes(containers.operations, parts.terminals, gate),
    windowRoutes(
      {
        feed,
        sessions: parts.sessions,
        urlFor: parts.addresses.windowWith,
        status: () => ({
          version: manifest.version,
          addresses: allAddresses(),
          dataDir: config.data,
          store: { seq: store.seq, resources: store.world.resources.size, ...store.health() },
          engines: containers.operations.engines(),
          processes: lambdas.stats(),
          viewers: feed.viewers,
          services: statusOf(data.failures(), containers.operations.engines()).services,
        }),
        pulse: () => watch.pulse.shown(),
        endpoints: () => watch.endpoints.shown(parts.gateway.limitUses()),
      },
      gate,
    ),
    outboundListRoutes({ recorder, secrets, nowMs }, gate),
    recorderRoutes({ recorder, invoker, secrets, nowMs, refusalOf }, gate),
    failureRoutes({ recorder, happenings, view, machine, invoker, refusalOf }, gate),
    sendingRoutes(
      {
        gatewayUrl: () => parts.addresses.localGatewayUrl,
        elapsedMs: () => performance.now(),
        tokens: {
          tokenFor: (userId) => tokenFor({ view, credentials }, userId),
          endToken: (token) => credentials.revokeToken(token),
        },
      },
      gate,
    ),
    deliveryRoutes({ scm, scmToken, runs: parts.pipelines, starter: parts.pipelineStarter }, gate),
    publishingRoutes(
      {
        meetings: data.meetings,
        calls: callsOf(recorder),
        own: () => ({ metaUrl: `${parts.addresses.listening}/meta`, hosts: Object.values(allAddresses()).map(hostOf) }),
      },
      gate,
    ),
    roleRoutes(core.service, gate),
    workbenchRoutes(parts.workbench, gate),
    outboundRoutes({ rules: parts.outboundRules, crm: config.outbound.crm }, gate),
    settingsRoutes(settingsService({ config, origins: parts.origins, addresses: allAddresses, data }), gate),
    accessRoutes({ credentials, firstKey: parts.firstKey }, gate),
    seedRoutes(worldSeeds({ store, config: coreConfig, addresses, scm: scmAccess, nowMs, onWarning }), gate),
    historyRoutes(machine, gate),
    treeRoutes(gate),
    resetRoutes(machine, freshWorlds(config, { addresses, seed: parts.seed, nowMs, onWarning }, scmAccess), gate),
    snapshotRoutes(
      {
        snapshots,
        machine,
        archive: { leads, results, parseLead, version: manifest.version, nowMs, laws: { ...laws, hashPassword } },
      },
      gate,
    ),
  );
  const log = express.Router({ caseSensitive: true });
  log.use(plainLogRoutes(logs, gate));
  for (const router of [inspect, log]) {
    router.use((req) => {
      throw new PlatformError(404, `no route: ${req.method} ${req.originalUrl.split('?', 1)[0]}`);
    });
    router.use(answerErrors(onFault));
  }
  return { inspect, log };
}

const hostOf = (url: string): string => new URL(url).host;
