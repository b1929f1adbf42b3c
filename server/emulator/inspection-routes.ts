import express, { type Request, type Router } from 'express';
import { type AccessDesk, accessRoutes, type KeyMaker } from '../access/access-routes.ts';
import { type DeliveryOptions, deliveryRoutes } from '../delivery/delivery-routes.ts';
import type { ArchiveOptions } from '../history/archive-routes.ts';
import { historyRoutes, type Sees } from '../history/history-routes.ts';
import { type FreshWorld, resetRoutes } from '../history/reset-routes.ts';
import { snapshotRoutes } from '../history/snapshot-routes.ts';
import type { TimeMachine } from '../history/time-machine.ts';
import { answerErrors } from '../http/answer-error.ts';
import type { Arrivals } from '../http/arrivals.ts';
import { authenticate } from '../http/authenticate.ts';
import type { Gate } from '../http/serve.ts';
import type { ContainerLog } from '../logs/container-log.ts';
import type { KeptLines } from '../logs/kept-lines.ts';
import { invokeRoutes, type LambdaLog, logRoutes, plainLogRoutes } from '../logs/lambda-routes.ts';
import { lineListRoutes } from '../logs/line-list-routes.ts';
import type { Authenticator, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import { typeOf } from '../model/registry.ts';
import type { WorldView } from '../model/world-view.ts';
import { type PublishingOptions, publishingRoutes } from '../publishing/routes.ts';
import { roleRoutes } from '../resources/role-routes.ts';
import { type SeedDesk, seedRoutes } from '../seed/seed-routes.ts';
import { type LeadDesk, leadRoutes } from '../standins/lead-routes.ts';
import type { NamedSnapshots } from '../store/named-snapshots.ts';
import { failureRoutes } from '../traffic/failure-routes.ts';
import type { Happenings } from '../traffic/happenings.ts';
import { outboundListRoutes } from '../traffic/outbound-list-routes.ts';
import type { Recorder } from '../traffic/recorder.ts';
import { type RecorderRoutesOptions, recorderRoutes } from '../traffic/recorder-routes.ts';
import { type SendingOptions, sendingRoutes } from '../traffic/sending-routes.ts';
import { type SettingsDesk, settingsRoutes } from '../window/settings-routes.ts';
import { treeRoutes } from '../window/tree-routes.ts';
import { type WindowDesk, windowRoutes } from '../window/window-routes.ts';
import { type ContainerDesk, containerRoutes } from '../workbench/container-routes.ts';
import { outboundRoutes } from '../workbench/outbound-routes.ts';
import type { OutboundRules } from '../workbench/outbound-rules.ts';
import type { Terminals } from '../workbench/terminals.ts';
import { type Workbench, workbenchRoutes } from '../workbench/workbench-routes.ts';

export interface InspectorOptions {
  view: WorldView;
  authenticator: Authenticator;
  judge: Judge;
  lambdaLog: LambdaLog;
  /** What all lambdas wrote. */
  lines: KeptLines;
  containerLog: ContainerLog;
  containers: ContainerDesk;
  terminals: Terminals;
  invoker: LambdaInvoker;
  /** Told of each lead under the topic LEADS, and of each line of a log. */
  arrivals: Arrivals;
  leads: LeadDesk;
  /** What the CRM told the sender of a form that it refused, if this invocation sent one. */
  refusalOf(executionId: string): string | undefined;
  /** What the window is told, and signs in with. */
  window: WindowDesk & { recorder: Recorder; happenings: Happenings; secrets: RecorderRoutesOptions['secrets'] };
  workbench: Workbench;
  outbound: { rules: OutboundRules; crm: 'catch' | 'pass' };
  settings: SettingsDesk;
  access: AccessDesk;
  seeds: SeedDesk;
  keys: KeyMaker;
  /** For requests that root sends in the name of others. */
  tokens: SendingOptions['tokens'];
  freshWorld: FreshWorld;
  delivery: DeliveryOptions;
  publishing: PublishingOptions;
  /** Changes who may do what. */
  rights: Parameters<typeof roleRoutes>[0];
  machine: TimeMachine;
  snapshots: NamedSnapshots;
  archive: Omit<ArchiveOptions, 'machine' | 'store'>;
  securityUrlFor(request: Request): string;
  nowMs(): number;
  /** Where the gateway listens, for this machine. */
  gatewayUrl(): string;
  onFault(fault: unknown): void;
}

/**
 * What is seen of the platform beyond its contract: `/inspect/...` and the logs of `/log` (D-001, D-191, D-200).
 */
export function inspectorRoutes(options: InspectorOptions): { inspect: Router; log: Router } {
  const { view, judge, arrivals, machine, invoker, refusalOf, lambdaLog, containerLog } = options;
  const { recorder, secrets, happenings, ...window } = options.window;
  const gate: Gate = {
    view,
    judge,
    callerOf(req) {
      const who = options.authenticator.identify(req.headers.authorization);
      return authenticate(who, { securityUrl: options.securityUrlFor(req) });
    },
  };
  const sees: Sees = (caller, id) => {
    const record = view.find(id);
    return caller.isRoot || (record !== undefined && judge.may(caller, `${typeOf(record).noun}.view`, id));
  };
  const logs = { lambdaLog, containerLog, arrivals };
  const inspect = express.Router({ caseSensitive: true });
  inspect.use(
    leadRoutes(() => options.leads, arrivals, gate),
    invokeRoutes(invoker, gate),
    logRoutes(logs, gate),
    lineListRoutes({ lines: options.lines, recorder, secrets, nowMs: options.nowMs }, gate),
    containerRoutes(options.containers, options.terminals, gate),
    windowRoutes(window, gate),
    outboundListRoutes({ recorder, secrets, nowMs: options.nowMs }, gate),
    recorderRoutes({ recorder, invoker, secrets, nowMs: options.nowMs, refusalOf }, gate),
    failureRoutes({ recorder, happenings, view, machine, invoker, refusalOf }, gate),
    sendingRoutes({ gatewayUrl: options.gatewayUrl, elapsedMs: () => performance.now(), tokens: options.tokens }, gate),
    deliveryRoutes(options.delivery, gate),
    publishingRoutes(options.publishing, gate),
    roleRoutes(options.rights, gate),
    workbenchRoutes(options.workbench, gate),
    outboundRoutes(options.outbound, gate),
    settingsRoutes(() => options.settings, gate),
    accessRoutes({ desk: () => options.access, keys: options.keys }, gate),
    seedRoutes(options.seeds, gate),
    historyRoutes(machine, gate, sees),
    treeRoutes(gate),
    resetRoutes(machine, () => options.freshWorld, gate),
    snapshotRoutes({ snapshots: options.snapshots, machine, archive: options.archive, sees }, gate),
  );
  const log = express.Router({ caseSensitive: true });
  log.use(plainLogRoutes(logs, gate));
  for (const router of [inspect, log]) {
    router.use((req) => {
      throw new PlatformError(404, `no route: ${req.method} ${req.originalUrl.split('?', 1)[0]}`);
    });
    router.use(answerErrors(options.onFault));
  }
  return { inspect, log };
}
