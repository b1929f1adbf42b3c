import { randomUUID } from 'node:crypto';
import type { InvocationView } from '../api/routes/logs.ts';
import { FaultRules } from '../api/server/fault-rules.ts';
import { Notifier } from '../api/server/notifier.ts';
import { EventStream } from '../inspector/live/event-stream.ts';
import { toInvocationView } from '../inspector/recorder/recorded-invocation.ts';
import type { WorldView } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { publicUrlOf } from '../model/types/apiendpoint.ts';
import { committed, freshWorlds, invocationEnded, resourceChanged, worldReset } from '../plugin/tokens.ts';
import { spareProcesses } from '../runtimes/lambdas/plugin.ts';
import { archivedLogs } from '../services/history/plugin.ts';
import { passwordHashes, platformStatuses } from '../services/resources/plugin.ts';
import { hashPassword, RandomPasswords } from '../services/security/passwords.ts';
import { randomPasswords } from '../services/security/plugin.ts';
import type { StoreFiles } from '../storage/files/files.ts';
import { fineClock, PlatformClock, steadyClock } from '../system/clock.ts';
import { Addresses, hostsOf } from './addresses.ts';
import { CleanupStack } from './cleanup-stack.ts';
import { completeOptions } from './config.ts';
import { type Config, IN_MEMORY, type StartOptions } from './config-schema.ts';
import { openData } from './data.ts';
import { archivedIn, type ListenerUrls, resetTopics } from './declarations.ts';
import { freshWorldsOf, makeFirstWorld, saveFirstRules } from './first-world.ts';
import { Host } from './host.ts';
import { plugins } from './plugins.ts';
import type { RunningPlatform, TerrariumHooks, Tour } from './running-platform.ts';
import { originsOf, settingsService } from './settings-service.ts';
import { startControlPlane } from './start-control-plane.ts';
import { createTestService, type TestService } from './test-service.ts';
import { eventStreams, settingsServices, stopRequests } from './window-plugin.ts';

/** A platform with the address of every listener that is declared; the library lists which of them it promises. */
export interface Emulator extends RunningPlatform, ListenerUrls {}

/** A platform in the process of those who use it. */
export interface EmbeddedEmulator extends Emulator {
  readonly testService: TestService;
}

/** Messages that need no action; the command line prints them. */
export interface StartHooks extends TerrariumHooks {
  /** The seed of a new world, in place of the setting: the contents of a seed file, with `codeFile` relative to the working folder. */
  seed?: object | undefined;
  /** Source of each setting, by its key: a flag, a variable, a file or `default`. By default, the options are the source. */
  origins?: ReadonlyMap<string, string>;
  /** Called for each invocation that is over. */
  onInvocation?(invocation: InvocationView): void;
  /** Called when a client has asked the platform to stop (D-219). The default stops it. */
  onStopRequest?(): void;
  /** Processes that wait for lambdas, at least; 0 for none at any time. For tests in which hardly any lambda is called. */
  spareProcesses?: number;
  /** Hash function for passwords of users. Tests replace it, because it would take most of their time. */
  hashPassword?(password: string): Promise<string>;
}

/**
 * Starts a platform: opens its data folder, seeds a new world, starts the plugins and the control plane.
 * Several can live in one process, each with its own ports and data.
 *
 * @param options settings; what is not given is in memory and on free ports (see `completeOptions`)
 * @throws UserError, StoreError, SeedError or an error of the operating system, each one sentence; nothing stays open then
 */
export async function startEmulator(options: StartOptions = {}, hooks: StartHooks = {}): Promise<EmbeddedEmulator> {
  const cleanup = new CleanupStack();
  try {
    const origins = hooks.origins ?? originsOf(options);
    return await start(completeOptions(options), { ...hooks, origins }, cleanup);
  } catch (failure) {
    // The reason of the failed start matters; failures of the cleanup do not.
    await cleanup.run().catch(() => undefined);
    throw failure;
  }
}

async function start(
  config: Config,
  hooks: StartHooks & Required<Pick<StartHooks, 'origins'>>,
  cleanup: CleanupStack,
): Promise<EmbeddedEmulator> {
  const steadyMs = steadyClock();
  const clock = new PlatformClock(steadyMs);
  const { nowMs } = clock;
  const warn = hooks.onWarning ?? (() => {});
  const onFault = hooks.onFault ?? ((fault: unknown) => console.error('terrarium: internal error:', fault));
  const addresses = new Addresses(config);
  let reading: Promise<RandomPasswords> | undefined;
  const readPasswords = () => (reading ??= RandomPasswords.open(config.data === IN_MEMORY ? undefined : config.data));
  const worldOptions = { addresses: addresses.serviceAddresses, seed: hooks.seed, nowMs, onWarning: warn };
  const createWorld = async (files: StoreFiles) =>
    makeFirstWorld(config, {
      ...worldOptions,
      passwords: await readPasswords(),
      saveRules: (rules) => saveFirstRules(files, rules, { fsync: config.fsync, onWarning: warn }),
    });
  const data = await openData({ config, createWorld, nowMs, onWarning: warn }, cleanup);
  // Once the folder is locked: it can be unusable, or in use by a platform that still draws passwords.
  const passwords = await readPasswords();
  const { store } = data;
  const [notifier, stream] = [new Notifier(), new EventStream(randomUUID().slice(0, 8))];
  const shared = {
    config,
    ...data,
    addresses,
    allowedHosts: hostsOf(config),
    notifier,
    faults: new FaultRules(() => stream.publish('simulation', {})),
    clock,
    nowMs,
    steadyMs,
    fineMs: fineClock(nowMs),
    hasViewers: stream.hasViewers,
    warn,
    onFault,
  };
  const host = new Host({ ...shared, publish: stream.publish, listensAt: addresses.resolve }, cleanup);
  host.fill(platformStatuses, () => ({ failed: [...data.failures(), ...host.failures()], services: host.statuses() }));
  host.fill(randomPasswords, passwords);
  host.fill(passwordHashes, hooks.hashPassword ?? hashPassword);
  host.fill(spareProcesses, hooks.spareProcesses);
  host.fill(eventStreams, stream);
  host.fill(archivedLogs, archivedIn(data.logs));
  host.fill(stopRequests, () => (hooks.onStopRequest ? hooks.onStopRequest() : void stopOnce().catch(onFault)));
  const { onInvocation } = hooks;
  if (onInvocation)
    host.on(invocationEnded, 'onInvocation', ({ invocation }) => onInvocation(toInvocationView(invocation)));
  cleanup.add(
    store.onCommit((commit, changes) => {
      host.emit(committed, { commit, changes });
      for (const change of changes) {
        const resource = change.after ?? change.before;
        if (resource) host.emit(resourceChanged(typeOf(resource).collection), change);
      }
    }),
  );
  const { scm, security, resources, recorder: recorded, lambdas } = await host.start(plugins);
  host.fill(freshWorlds, freshWorldsOf(config, { ...worldOptions, passwords }, scm.access));
  const settingsContext = { config, origins: hooks.origins, addresses: () => ({ ...addresses.all() }), data, recorded };
  host.fill(settingsServices, () => settingsService(settingsContext));

  const controlPlane = await startControlPlane({ ...shared, host, security }, cleanup);
  for (const component of [notifier, stream]) cleanup.add(() => component.stop());
  await host.run('listening').finally(controlPlane.open);
  await host.run('ready');
  controlPlane.loadSoon();
  let stopped: Promise<void> | undefined;
  const stopOnce = () => {
    stopped ??= host.run('stopping').finally(() => {
      controlPlane.beginStop();
      return cleanup.run();
    });
    return stopped;
  };
  return {
    ...addresses.all(),
    scmToken: scm.token,
    dataDir: config.data,
    worldId: store.world.id,
    rootCredentials: resources.account(),
    windowUrl: () => addresses.windowWith(security.sessions.createCode()),
    tour: findTour(store.view, addresses.serviceAddresses().gatewayUrl),
    testService: createTestService({
      data,
      credentials: security.credentials,
      lambdas,
      recorder: recorded.recorder,
      onReset: () => {
        host.emit(worldReset, undefined);
        for (const topic of resetTopics) stream.publish(topic, {});
      },
      routes: controlPlane.routes,
    }),
    stop: stopOnce,
  };
}

/** Public addresses of the endpoints that the demo world and the specification name. */
export function findTour(view: WorldView, gatewayUrl: string): Tour {
  const urlOfEndpoint = (path: string) => {
    const endpoint = view.all('apiendpoints').find((candidate) => candidate.properties.resource === path);
    return endpoint && publicUrlOf(view, endpoint, gatewayUrl);
  };
  const [leadUrl, deployUrl] = [urlOfEndpoint('/lead'), urlOfEndpoint('/deploy')];
  return { ...(leadUrl && { leadUrl }), ...(deployUrl && { deployUrl }) };
}
