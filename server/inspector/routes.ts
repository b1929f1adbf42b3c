import express, { type Request, type Router } from 'express';
import { answerErrors } from '../http/answer-error.ts';
import { requireCaller } from '../http/challenge.ts';
import { queryOf, singleParameter } from '../http/query.ts';
import type { Gate } from '../http/serve.ts';
import type { Authenticator, Caller, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { LogParameters } from '../model/log-query.ts';
import { typeOf } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import type { WorldView } from '../model/world-view.ts';
import type { NamedSnapshots } from '../store/named-snapshots.ts';
import { type AccessDesk, accessRoutes } from './access-routes.ts';
import { type ArchiveOptions, archiveRoutes } from './archive-routes.ts';
import type { Arrivals } from './arrivals.ts';
import type { ContainerLog } from './container-log.ts';
import { type ContainerDesk, containerRoutes } from './container-routes.ts';
import { deliveryRoutes, type PipelineStarter, type ScmInspection } from './delivery-routes.ts';
import { failureRoutes } from './failure-routes.ts';
import { historyRoutes, type Sees, type WorldGuard } from './history-routes.ts';
import { type KeyMaker, keyRoutes } from './key-routes.ts';
import { type LogPages, lambdaRoutes, type TargetOf } from './lambda-routes.ts';
import { type LeadDesk, leadRoutes } from './lead-routes.ts';
import type { LiveFeed } from './live-feed.ts';
import { outboundRoutes } from './outbound-routes.ts';
import type { OutboundRules } from './outbound-rules.ts';
import type { PipelineRuns } from './pipeline-runs.ts';
import type { Recorder } from './recorder.ts';
import { recorderRoutes } from './recorder-routes.ts';
import { type FreshWorld, resetRoutes } from './reset-routes.ts';
import { type SeedDesk, seedRoutes } from './seed-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { type SettingsDesk, settingsRoutes } from './settings-routes.ts';
import { snapshotRoutes } from './snapshot-routes.ts';
import type { TimeMachine } from './time-machine.ts';
import { treeRoutes } from './tree-routes.ts';
import type { WindowSessions } from './window-sessions.ts';
import { type Workbench, workbenchRoutes } from './workbench-routes.ts';

/** Captured output of lambdas (D-191). */
export interface LogSource {
  /** Lines newest last. Throws 400 for a malformed `time` or `stderr`. */
  log(resourceId: string, query: LogParameters): readonly string[];
}

export interface InspectorOptions {
  view: WorldView;
  authenticator: Authenticator;
  judge: Judge;
  lambdaLog: LogSource & LogPages;
  containerLog: ContainerLog;
  containers: ContainerDesk;
  invoker: LambdaInvoker;
  /** Told of each lead under the topic LEADS, and of each line of a log. */
  arrivals: Arrivals;
  leads: LeadDesk;
  /** What the CRM told the sender of a form that it refused, if this invocation sent one. */
  refusalOf(executionId: string): string | undefined;
  /** What the window is told, and signs in with. */
  window: {
    feed: LiveFeed;
    sessions: WindowSessions;
    recorder: Recorder;
    /** Address of the window that signs in with a code. */
    urlFor(code: string): string;
    /** How the platform is: addresses, services, engines, store. */
    status(): object;
    /** What happens at each service, minute by minute. */
    pulse(): object;
    /** What has come to each public endpoint, and how much of its limit is used. */
    endpoints(): object[];
  };
  workbench: Workbench;
  outbound: { rules: OutboundRules; crm: 'catch' | 'pass' };
  settings: SettingsDesk;
  access: AccessDesk;
  seeds: SeedDesk;
  keys: KeyMaker;
  freshWorld: FreshWorld;
  scm: ScmInspection;
  pipelines: PipelineRuns;
  pipelineStarter: PipelineStarter;
  machine: TimeMachine;
  snapshots: NamedSnapshots;
  archive: Omit<ArchiveOptions, 'machine' | 'store'>;
  securityUrlFor(request: Request): string;
  onFault(fault: unknown): void;
}

/**
 * What is seen of the platform beyond its contract: `/inspect/...` and the logs of `/log` (D-001, D-191, D-200).
 */
export function inspectorRoutes(options: InspectorOptions): { inspect: Router; log: Router } {
  const { view, judge, arrivals, containerLog } = options;

  const callerOf = (req: Request): Caller => {
    const who = options.authenticator.identify(req.headers.authorization);
    return requireCaller(who, `${options.securityUrlFor(req)}/root/oauth/issue`);
  };
  const gate: Gate = { view, judge, callerOf };
  const guard: WorldGuard = {
    viewer(req) {
      const caller = callerOf(req);
      demandRight(judge, { caller, action: 'org.view', resource: view.root });
      return caller;
    },
    root(req) {
      const caller = callerOf(req);
      if (!caller.isRoot) throw new PlatformError(403, 'only the root user may do this; sign in as root');
      return caller;
    },
  };
  const target: TargetOf = (req, verb, words, of = String(req.params.id)) => {
    const caller = callerOf(req);
    const id = parseUuid(of);
    const resource = view.find(id);
    if (!resource || !words.includes(typeOf(resource).word)) {
      throw new PlatformError(404, `${words.join(' or ')} ${id} not found`);
    }
    const action = `${typeOf(resource).noun}.${verb}`;
    demandRight(judge, { caller, action, resource });
    return { caller, resource };
  };

  const inspect = express.Router({ caseSensitive: true });
  inspect.use(leadRoutes(() => options.leads, arrivals, guard));
  inspect.use(lambdaRoutes({ invoker: options.invoker, lambdaLog: options.lambdaLog, containerLog, arrivals, target }));
  inspect.use(containerRoutes(options.containers, gate));
  const { feed, sessions, recorder, status, pulse, endpoints, urlFor } = options.window;
  inspect.use(sessionRoutes(sessions, { guard, callerOf, windowUrl: urlFor }));
  inspect.use(recorderRoutes({ recorder, view, guard, invoker: options.invoker, target }));
  const { machine, invoker, refusalOf } = options;
  inspect.use(failureRoutes({ recorder, view, guard, machine, invoker, target, refusalOf }));
  inspect.get('/events', (req, res) => {
    guard.viewer(req);
    feed.attend(req, res);
  });
  inspect.get('/status', (req, res) => {
    guard.viewer(req);
    res.json(status());
  });
  inspect.get('/pulse', (req, res) => {
    guard.viewer(req);
    res.json(pulse());
  });
  inspect.get('/endpoints', (req, res) => {
    guard.viewer(req);
    res.json(endpoints());
  });
  inspect.use(deliveryRoutes(options.scm, options.pipelines, guard, view, options.pipelineStarter));
  inspect.use(workbenchRoutes(options.workbench, gate));
  inspect.use(outboundRoutes(options.outbound, gate));
  inspect.use(settingsRoutes(() => options.settings, guard));
  inspect.use(accessRoutes(() => options.access, view, callerOf));
  inspect.use(seedRoutes(options.seeds, callerOf));
  const sees: Sees = (caller, id) => {
    const record = view.find(id);
    return caller.isRoot || (record !== undefined && judge.may(caller, `${typeOf(record).noun}.view`, id));
  };
  inspect.use(historyRoutes(options.machine, guard, sees));
  inspect.use(treeRoutes(gate));
  inspect.use(keyRoutes({ view, judge, keys: options.keys, callerOf }));
  inspect.use(resetRoutes(options.machine, () => options.freshWorld, guard));
  inspect.use(snapshotRoutes(options.snapshots, options.machine, guard, sees));
  const archive = () => ({ ...options.archive, machine: options.machine, store: options.machine.store });
  inspect.use(archiveRoutes(archive, guard));

  const log = express.Router({ caseSensitive: true });
  log.get('/lambda/:id', (req, res) => {
    const { resource: lambda } = target(req, 'view', ['lambdas']);
    res.json(options.lambdaLog.log(lambda.id, logParameters(req)));
  });
  log.get('/container/:id', async (req, res) => {
    const { resource: container } = target(req, 'view', ['containers']);
    const lines = await containerLog.lines(container.id, logParameters(req));
    res.json(lines.map(({ text }) => text));
  });
  for (const router of [inspect, log]) {
    router.use((req) => {
      throw new PlatformError(404, `no route: ${req.method} ${req.originalUrl.split('?', 1)[0]}`);
    });
    router.use(answerErrors(options.onFault));
  }
  return { inspect, log };
}

function logParameters(req: Request): LogParameters {
  const query = queryOf(req);
  return { time: singleParameter(query, 'time'), stderr: singleParameter(query, 'stderr') };
}
