import { resolve } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { WindowSessions } from './access/window-sessions.ts';
import { completeOptions, isLoopbackHost } from './config.ts';
import { type Config, IN_MEMORY, type StartOptions } from './config-schema.ts';
import { Addresses } from './emulator/addresses.ts';
import { createContainers } from './emulator/container-life.ts';
import { createControlPlane } from './emulator/control-plane.ts';
import { openData } from './emulator/data.ts';
import { documentation } from './emulator/documentation.ts';
import { makeFirstWorld } from './emulator/first-world.ts';
import { keptPipelineRuns } from './emulator/kept-parts.ts';
import { coreConfigOf, hostsOf } from './emulator/listeners.ts';
import { replacementFor, suspectsIn } from './emulator/published-passwords.ts';
import { settleRootAccount } from './emulator/root-account.ts';
import { originsOf } from './emulator/settings-service.ts';
import { startStandIns } from './emulator/stand-ins.ts';
import { statusOf } from './emulator/status.ts';
import { createTestService, type TestService } from './emulator/test-service.ts';
import { findTour } from './emulator/tour.ts';
import { Unwind } from './emulator/unwind.ts';
import { Watch } from './emulator/watch.ts';
import { type ListeningByName, listenByName } from './emulator/window-name.ts';
import { Gateway } from './gateway/gateway.ts';
import { lazyRoutes } from './http/lazy-routes.ts';
import { listenAt } from './http/listening.ts';
import { WindDown } from './http/wind-down.ts';
import { LambdaService } from './lambdas/lambda-service.ts';
import { RecentCalls } from './lambdas/recent-calls.ts';
import type { RunningPlatform, TerrariumHooks } from './library/api.ts';
import { fineClock } from './machine/clock.ts';
import { lazy } from './machine/lazy.ts';
import { ownerHere } from './machine/owner.ts';
import type { StoredResource } from './model/record.ts';
import { isGateway } from './model/types/provider-rules.ts';
import { packageFile } from './package-file.ts';
import { PipelineService } from './pipelines/pipeline-service.ts';
import { SAMPLE_DIR } from './pipelines/sample-repository.ts';
import { rootAct } from './resources/act.ts';
import { createCore } from './resources/core.ts';
import { resourceRoutes } from './resources/routes.ts';
import { endCredentials } from './security/account-endings.ts';
import { AttemptLimiter } from './security/attempt-limiter.ts';
import { createAuthenticator } from './security/authenticator.ts';
import { Credentials } from './security/credentials.ts';
import { verifyPassword } from './security/passwords.ts';
import { pastAccountsIn } from './security/past-accounts.ts';
import { publishedHash } from './security/published-hashes.ts';
import { followScm } from './standins/scm/scm-place.ts';
import { windowFiles } from './window/window-files.ts';
import { outboundRulesIn } from './workbench/outbound-rules.ts';
import { Terminals } from './workbench/terminals.ts';
import { createWorkbench } from './workbench/workbench.ts';

export type { RunningPlatform as Emulator };

/** From the end of a start: what it has left out is not to compete with the first requests. */
const LOAD_AFTER_MS = 1_000;

/** A platform in the process of those who use it. */
export interface EmbeddedEmulator extends RunningPlatform {
  readonly testService: TestService;
}

/** What is told of things that need no answer; the command line prints it. */
export interface StartHooks extends TerrariumHooks {
  /** The seed of a new world, in place of the setting: what a seed file may hold, `codeFile` relative to the working folder. */
  seed?: object | undefined;
  /** Where each setting came from, by its key: a flag, a variable, a file or `default`. Unless given the options said what they hold. */
  origins?: ReadonlyMap<string, string>;
  /** Processes that wait for lambdas, at least; 0 for none at any time. For tests in which hardly any lambda is called. */
  spareProcesses?: number;
}

/**
 * Starts a platform: opens its data folder, seeds a new world, brings up the stand-in, the gateway and the control plane.
 * Several can live in one process, each with its own ports and data.
 *
 * @param options settings; what is not given is in memory and on free ports (see `completeOptions`)
 * @throws UserError, StoreError, SeedError or an error of the operating system, each one sentence; nothing stays open then
 */
export async function startEmulator(options: StartOptions = {}, hooks: StartHooks = {}): Promise<EmbeddedEmulator> {
  const unwind = new Unwind();
  try {
    const origins = hooks.origins ?? originsOf(options);
    return await start(completeOptions(options), { ...hooks, origins }, unwind);
  } catch (failure) {
    // Why it did not start is what matters, whatever else goes wrong on the way back.
    await unwind.run().catch(() => undefined);
    throw failure;
  }
}

async function start(
  config: Config,
  hooks: StartHooks & Required<Pick<StartHooks, 'origins'>>,
  unwind: Unwind,
): Promise<EmbeddedEmulator> {
  const nowMs = Date.now;
  /** For what takes less than a millisecond. */
  const fineMs = fineClock(nowMs);
  const onWarning = hooks.onWarning ?? (() => {});
  const onFault = hooks.onFault ?? ((fault: unknown) => console.error('terrarium: internal error:', fault));
  const addresses = new Addresses(config);

  const worldOptions = { addresses: addresses.ours, seed: hooks.seed, nowMs, onWarning };
  const createWorld = () => makeFirstWorld(config, worldOptions);
  const data = await openData({ config, createWorld, nowMs, onWarning }, unwind);
  const watch = new Watch(nowMs, data);
  const { store } = data;
  const { view } = store;
  const credentials = new Credentials({
    keys: data.keys,
    tokens: data.tokens,
    nowMs,
    tokenLifetimeMs: config.limits.tokenLifetimeS * 1000,
  });
  const authenticator = createAuthenticator(view, credentials);

  const recentCalls = new RecentCalls();
  const standIns = await startStandIns({ config, data, recentCalls, watch, nowMs, onFault }, unwind);
  const pipelines = await keptPipelineRuns({ data, watch, nowMs, onFault });
  const outboundRules = outboundRulesIn(data.outbound, async (before, after) => {
    await lambdas.applyRules();
    watch.onOutboundRules(before, after);
  });
  const lambdas = new LambdaService({
    view,
    recentCalls,
    addresses: addresses.ours,
    nowMs: fineMs,
    childFile: packageFile('dist/server/lambda-child.cjs'),
    scratchDir: data.scratchDir,
    checkScratch: () => data.check(),
    periodic: config.lambdas.periodic,
    ...(config.lambdas.modules !== undefined && { modules: config.lambdas.modules }),
    limits: {
      concurrency: config.limits.lambdaProcesses,
      processes: config.limits.lambdaProcessesInAll,
      queue: config.limits.lambdaQueue,
      resultBytes: config.limits.lambdaResultBytes,
      timeoutMaxS: config.limits.maxLambdaTimeoutS,
      logLines: config.limits.logLines,
      ...(hooks.spareProcesses !== undefined && { spares: hooks.spareProcesses }),
    },
    outbound: {
      crm: config.outbound.crm,
      crmAddress: standIns.crmAddress,
      rules: () => outboundRules.kept().rules,
    },
    onLog: watch.onLog,
    keptLines: data.keptLines,
    onBegin: watch.onBegin,
    onInvocation: watch.onInvocation,
    onDebug: watch.onWorkbench,
  });
  unwind.add(() => lambdas.stop());

  const containers = createContainers({
    view,
    worldId: store.world.id,
    owner: await ownerHere(config.data === IN_MEMORY ? undefined : resolve(config.data)),
    config,
    servicePorts: data.servicePorts,
    nowMs,
    onNews: watch.onContainerNews,
    onWarning,
  });
  unwind.add(() => containers.stop());
  const pastAccounts = pastAccountsIn(data.pastAccounts);
  await pastAccounts.learn(view);
  const core = createCore({
    store,
    config: coreConfigOf(config),
    invoker: lambdas,
    containers: containers.life,
    refetch: (id) => lambdas.refetch(id),
    wasAccount: (id) => pastAccounts.has(id),
    addresses: addresses.ours,
    nowMs,
    onWarning,
  });
  const { service, judge } = core;
  const allowedHosts = hostsOf(config);
  const gateway = new Gateway({
    view,
    invoker: lambdas,
    authenticator,
    judge,
    results: data.results,
    containers: containers.proxy,
    addresses: addresses.ours,
    nowMs: fineMs,
    version: manifest.version,
    allowedHosts,
    limits: config.limits,
    onFault,
    onExchange: watch.onExchange,
  });
  const workbench = createWorkbench({ data, service, lambdas, nowMs, onChange: watch.onWorkbench, onFault });
  unwind.add(() => workbench.stop());
  /** Are other machines let in, so that what everybody knows must open nothing? */
  const isOpen = !isLoopbackHost(config.host);
  /** Gives a user whose password everybody knows another one, and tells it. */
  const closePublished = async (user: StoredResource): Promise<void> => {
    const password = isOpen ? await replacementFor(user) : undefined;
    if (password === undefined) return;
    const replace = { op: 'replace', path: '/properties/password', value: password } as const;
    await service.patch(rootAct(view.root, 'startup'), user.id, [replace]);
    onWarning(
      `host is '${config.host}', which lets other machines in, and the password of user '${user.name}' is published with ` +
        `Terrarium: it is ${password} from now on; this is told once`,
    );
  };
  const stopFollowing = store.onCommit((commit, changes) => {
    watch.onCommit(commit);
    gateway.changed(changes);
    lambdas.changed(changes);
    workbench.changed(changes);
    containers.service.changed(changes);
    containers.ports.changed(changes);
    endCredentials(credentials, view, commit, changes).catch(onFault);
    pastAccounts.changed(changes).catch(onFault);
    for (const { before, after } of changes) {
      if (after && after.properties.password !== before?.properties.password) closePublished(after).catch(onFault);
      // A moment that is brought back may hold the gateway's address of then.
      if (after && isGateway(after.type)) core.defaults.followGateway(rootAct(view.root, 'startup')).catch(onFault);
    }
  });
  unwind.add(stopFollowing);
  await credentials.forgetStrangers((id) => view.find(id) !== undefined);
  for (const user of isOpen ? suspectsIn(view) : []) await closePublished(user);
  const signIns = {
    attempts: new AttemptLimiter(config.limits.tokenRequestsPerMinute, nowMs),
    async isPassword(password: string, user: StoredResource | undefined) {
      const stored = user?.properties.password;
      const isRight = await verifyPassword(password, typeof stored === 'string' ? stored : undefined);
      return isRight && !(isOpen && publishedHash(password) !== undefined);
    },
  };
  const sessions = new WindowSessions({ view, credentials, ...signIns }, nowMs, data.sessions);
  let firstKey: string | undefined;
  const pipelineService = new PipelineService({
    sampleDir: packageFile(SAMPLE_DIR),
    env: process.env,
    baseUrl: () => addresses.ours().baseUrl,
    createKey: () => credentials.createKey(view.root.owner, view.root.id),
    revokeKey: (key) => credentials.revokeKey(key),
  });
  const terminals = new Terminals({ nowMs, onFault });
  const inspector = lazy(async () => {
    const { createInspector } = await import('./emulator/inspector.ts');
    return createInspector({
      config,
      origins: hooks.origins,
      seed: hooks.seed,
      addresses,
      data,
      core,
      authenticator,
      credentials,
      firstKey: () => firstKey,
      lambdas,
      gateway,
      containers,
      terminals,
      standIns,
      outboundRules,
      pipelines,
      workbench,
      watch,
      sessions,
      pipelineStarter: pipelineService,
      nowMs,
      onWarning,
      onFault,
    });
  });
  const security = lazy(async () => {
    const [{ securityRoutes }, { accountChanges }] = await Promise.all([
      import('./security/routes.ts'),
      import('./resources/account-routes.ts'),
    ]);
    return securityRoutes({
      view,
      credentials,
      authenticator,
      judge,
      accountChanges: (parts) => accountChanges(service, parts),
      prefix: config.typePrefix,
      addresses: addresses.seenBy,
      version: manifest.version,
      nowMs,
      ...signIns,
      onFault,
    });
  });
  const windDown = new WindDown();
  const controlPlane = createControlPlane({
    version: manifest.version,
    allowedHosts,
    corsOrigins: config.corsOrigins,
    limits: config.limits,
    onFault,
    windDown,
    admit: (request) => sessions.admit(request),
    recording: {
      nowMs: fineMs,
      userIdOf: ({ headers }) => {
        const who = authenticator.identify(headers.authorization);
        return who.kind === 'caller' ? who.caller.userId : undefined;
      },
      onExchange: watch.onExchange,
    },
    routers: {
      '/meta': resourceRoutes({
        core,
        authenticator,
        maxInstances: config.limits.maxInstances,
        addressesFor: addresses.seenBy,
        typePrefix: config.typePrefix,
        status: {
          version: manifest.version,
          nowMs,
          status: () => statusOf(data.failures(), containers.operations.engines()),
          baseUrlFor: (req) => addresses.seenBy(req).baseUrl,
        },
        onFault,
      }),
      '/security': lazyRoutes(security),
      '/inspect': lazyRoutes(async () => (await inspector()).inspect),
      '/log': lazyRoutes(async () => (await inspector()).log),
      '/ui': windowFiles(packageFile('dist/renderer')),
      '/': documentation((req) => ({ ...addresses.seenBy(req), typePrefix: config.typePrefix })),
    },
  });
  let byName: ListeningByName | undefined;
  unwind.add(() => windDown.end(controlPlane, byName?.second, () => store.seal()));
  unwind.add(() => watch.stop());
  const { port: basePort } = await listenAt(controlPlane, { host: config.host, port: config.basePort });
  byName = await listenByName(controlPlane);
  if (byName.hint) onWarning(byName.hint);
  addresses.settleBase(basePort, byName.isOurs);

  // The last to start is the first to stop: lambdas that end their work meanwhile may need the control plane.
  const { port: gatewayPort } = await gateway.start({ host: config.host, port: config.gatewayPort });
  unwind.add(() => gateway.stop());
  addresses.settleGateway(gatewayPort);

  await core.defaults.followGateway(rootAct(view.root, 'startup'));
  const scmAccess = { apiUrl: standIns.scm.apiUrl, token: standIns.scmToken };
  const followers = await followScm(view, data.places, scmAccess);
  if (followers.length > 0) await service.commit(rootAct(view.root, 'startup'), 'lambda.update', followers);
  await lambdas.start();
  workbench.start();
  await containers.start();
  unwind.add(() => terminals.stop());
  const rootCredentials = await settleRootAccount(service, credentials, config);
  firstKey = rootCredentials.apiKey;
  store.completeView().catch(onFault);
  data.certificate.makeSoon();
  // What is asked for later must not depend on files that another version may have taken away by then.
  const loading = setTimeout(() => {
    for (const load of [security, inspector]) load().catch(() => {}); // whoever asks for it hears why
  }, LOAD_AFTER_MS).unref();
  unwind.add(() => clearTimeout(loading));
  let stopped: Promise<void> | undefined;
  return {
    ...addresses.ours(),
    crmUrl: standIns.crmUrl,
    scmUrl: standIns.scm.url,
    scmToken: standIns.scmToken,
    dataDir: config.data,
    worldId: store.world.id,
    rootCredentials,
    windowUrl: () => addresses.windowWith(sessions.createCode()),
    tour: findTour(view, addresses.ours().gatewayUrl),
    testService: createTestService({ data, credentials, lambdas, watch }),
    stop: () => {
      const end = () => {
        windDown.begin();
        return unwind.run();
      };
      // What pipelines have to give back they give back to a platform that still answers.
      stopped ??= pipelineService.isIdle ? end() : pipelineService.stop().then(end);
      return stopped;
    },
  };
}
