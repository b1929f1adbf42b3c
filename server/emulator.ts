import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import manifest from '../package.json' with { type: 'json' };
import { completeOptions } from './config.ts';
import { type Config, DEFAULT_SCM_TOKEN, type StartOptions } from './config-schema.ts';
import type { EngineView } from './containers/container-service.ts';
import { createAccountWriter } from './emulator/account-writer.ts';
import { createContainers } from './emulator/container-life.ts';
import { createControlPlane } from './emulator/control-plane.ts';
import { createCore } from './emulator/core.ts';
import { openData } from './emulator/data.ts';
import { documentation } from './emulator/documentation.ts';
import { freshWorlds, makeFirstWorld } from './emulator/first-world.ts';
import { closeGently, hostsOf, listen, urlOf } from './emulator/listeners.ts';
import { type RootCredentials, rootAct, settleRootAccount } from './emulator/root-account.ts';
import { followScm, startScm } from './emulator/scm-place.ts';
import { accessDesk, originsOf, settingsDesk } from './emulator/settings-desk.ts';
import { Unwind } from './emulator/unwind.ts';
import { windowKeys } from './emulator/window-keys.ts';
import { windowSignIn } from './emulator/window-sign-in.ts';
import { createWorkbench } from './emulator/workbench.ts';
import { indexing } from './emulator/world-indexing.ts';
import { WorldSeeds } from './emulator/world-seeds.ts';
import { Gateway } from './gateway/gateway.ts';
import { baseUrlOf } from './http/addresses.ts';
import { Arrivals } from './inspector/arrivals.ts';
import { LiveFeed } from './inspector/live-feed.ts';
import { OutboundRules } from './inspector/outbound-rules.ts';
import { PipelineRuns } from './inspector/pipeline-runs.ts';
import { Recorder } from './inspector/recorder.ts';
import { inspectorRoutes, LEADS } from './inspector/routes.ts';
import { TimeMachine } from './inspector/time-machine.ts';
import { windowFiles } from './inspector/window-files.ts';
import { WindowSessions } from './inspector/window-sessions.ts';
import { offencesOf } from './inspector/world-rules.ts';
import { LambdaService } from './lambdas/lambda-service.ts';
import { RecentCalls } from './lambdas/recent-calls.ts';
import type { ExchangeRecord } from './model/exchange-record.ts';
import { USER } from './model/type-names.ts';
import { publicUrlOf } from './model/types/gateway-address.ts';
import { isGateway } from './model/types/provider-rules.ts';
import type { WorldView } from './model/world-view.ts';
import { packageFile } from './package-file.ts';
import { resourceRoutes } from './resources/routes.ts';
import { AttemptLimiter } from './security/attempt-limiter.ts';
import { createAuthenticator } from './security/authenticator.ts';
import { Credentials } from './security/credentials.ts';
import { securityRoutes } from './security/routes.ts';
import { CrmStandIn } from './standins/crm-stand-in.ts';
import { parseLead, parseLeadFilter } from './standins/lead.ts';
import { DEMO_PROJECT } from './standins/scm/scm-projects.ts';
import { ScmStandIn } from './standins/scm/scm-stand-in.ts';

/** Most leads that the CRM stand-in keeps. */
const MAX_LEADS = 10_000;

export { readSeedFileForApply, seedFilesOf } from './emulator/seed-files.ts';
export type { RootCredentials };

/** A running platform. */
export interface Emulator {
  /** `{base_url}`, without a slash at its end. */
  readonly baseUrl: string;
  /** `{meta_url}`: the resource service. */
  readonly metaUrl: string;
  /** `{security_url}`: the security service. */
  readonly securityUrl: string;
  /** `{gateway_url}`: public endpoints of lambdas and containers. */
  readonly gatewayUrl: string;
  /** The CRM stand-in, https. */
  readonly crmUrl: string;
  /** The source-control stand-in, http; its API is below `/api/v4`. */
  readonly scmUrl: string;
  /** The folder that keeps the world, or `:memory:`. */
  readonly dataDir: string;
  /** Marks what belongs to this world in container engines. */
  readonly worldId: string;
  readonly rootCredentials: RootCredentials;
  /** An address of the window that signs in as root, once, within ten minutes. */
  windowUrl(): string;
  /** Where the world's web form and its deployment lambda are, if it has them. */
  readonly tour?: { leadUrl?: string; deployUrl?: string };
  /** Lets running requests and invocations end, saves, and closes everything. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

/** What is told of things that need no answer; the command line prints it. */
export interface StartHooks {
  /** Where each setting came from, by its key: a flag, a variable, a file or `default`. Unless given the options said what they hold. */
  origins?: ReadonlyMap<string, string>;
  onWarning?(message: string): void;
  /** Runs the sample app's pipeline against the platform, for the window; rejects with what is to be put right. */
  runDemoPipeline?(): Promise<void>;
  /** A fault of the emulator itself: the client saw a bare 500. */
  onFault?(fault: unknown): void;
}

/**
 * Starts a platform: opens its data folder, seeds a new world, brings up the stand-in, the gateway and the control plane.
 * Several can live in one process, each with its own ports and data.
 *
 * @param options settings; what is not given is in memory and on free ports (see `completeOptions`)
 * @throws UserError, StoreError, SeedError or an error of the operating system, each one sentence; nothing stays open then
 */
export async function startEmulator(options: StartOptions = {}, hooks: StartHooks = {}): Promise<Emulator> {
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
): Promise<Emulator> {
  const nowMs = Date.now;
  const onWarning = hooks.onWarning ?? (() => {});
  const onFault = hooks.onFault ?? ((fault: unknown) => console.error('terrarium: internal error:', fault));
  const own = { baseUrl: urlOf(config.host, config.basePort), gatewayUrl: urlOf(config.host, config.gatewayPort) };
  const addresses = () => {
    const baseUrl = config.publicBaseUrl ?? own.baseUrl;
    const gatewayUrl = config.publicGatewayUrl ?? own.gatewayUrl;
    return { baseUrl, metaUrl: `${baseUrl}/meta`, securityUrl: `${baseUrl}/security`, gatewayUrl };
  };
  const addressesFor = (req: Request) => {
    const baseUrl = baseUrlOf(req, config.publicBaseUrl, own.baseUrl);
    return { ...addresses(), baseUrl, metaUrl: `${baseUrl}/meta`, securityUrl: `${baseUrl}/security` };
  };

  const createWorld = () => makeFirstWorld(config, { addresses, nowMs, onWarning });
  const data = await openData({ config, createWorld, nowMs, onWarning }, unwind);
  const { store, leads } = data;
  const { view } = store;
  const credentials = new Credentials({
    keys: data.keys,
    tokens: data.tokens,
    nowMs,
    tokenLifetimeMs: config.limits.tokenLifetimeS * 1000,
  });
  const authenticator = createAuthenticator(view, credentials);

  const arrivals = new Arrivals();
  const feed = new LiveFeed(randomUUID().slice(0, 8));
  const recorder = new Recorder();
  const onExchange = (record: ExchangeRecord) => {
    recorder.addExchange(record);
    feed.tell('traffic');
  };
  const onLead = () => {
    arrivals.announce(LEADS);
    feed.tell('leads', {});
  };
  const recentCalls = new RecentCalls();
  const crm = new CrmStandIn({
    leads,
    senderOf: (executionId) => recentCalls.find(executionId),
    certificate: data.certificate,
    nowMs,
    newId: randomUUID,
    maxLeads: MAX_LEADS,
    onLead,
  });
  const crmAddress = await crm.start({ host: config.host, port: config.crmPort });
  unwind.add(() => crm.stop());

  const scm = new ScmStandIn({
    projects: data.scm,
    token: config.scmToken,
    allowedHosts: hostsOf(config),
    nowMs,
    onFault,
  });
  // Everybody knows the default token: it is good for this machine only.
  const scmHost = config.scmToken === DEFAULT_SCM_TOKEN ? '127.0.0.1' : config.host;
  await startScm(scm, data.places, { host: scmHost, port: config.scmPort });
  unwind.add(() => scm.stop());
  if (config.seed === 'demo' && data.scm.size === 0) await scm.projects.create(DEMO_PROJECT);

  const outboundRules = new OutboundRules({
    log: data.outbound,
    newId: randomUUID,
    onChange: () => {
      lambdas.applyRules();
      feed.tell('outbound', {});
    },
  });
  const lambdas = new LambdaService({
    view,
    recentCalls,
    onDebug: () => feed.tell('workbench', {}),
    addresses,
    nowMs,
    childFile: packageFile('dist/server/lambda-child.cjs'),
    scratchDir: data.scratchDir,
    limits: {
      concurrency: config.limits.lambdaProcesses,
      queue: config.limits.lambdaQueue,
      resultBytes: config.limits.lambdaResultBytes,
      timeoutMaxS: config.limits.maxLambdaTimeoutS,
      logLines: config.limits.logLines,
    },
    outbound: { crm: config.outbound.crm, crmAddress: () => crmAddress, rules: () => outboundRules.kept.rules },
    onLog: (lambdaId) => {
      arrivals.announce(lambdaId);
      if (feed.viewers > 0) feed.tell('logs', lambdaId);
    },
    onBegin: (begun) => {
      recorder.begin(begun);
      feed.tell('invocations');
    },
    onInvocation: (invocation, call) => {
      recorder.addInvocation(invocation, call);
      feed.tell('invocations');
    },
  });
  unwind.add(() => lambdas.stop());

  const containers = createContainers({
    view,
    worldId: store.world.id,
    config,
    servicePorts: data.servicePorts,
    nowMs,
    onNews: (news) => feed.tell(news.kind === 'engine' ? 'status' : 'containers', { ...news }),
    onWarning,
  });
  unwind.add(() => containers.stop());
  const core = createCore({
    store,
    config,
    invoker: lambdas,
    containers: containers.life,
    addresses,
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
    addresses,
    nowMs,
    version: manifest.version,
    allowedHosts,
    limits: config.limits,
    onFault,
    onExchange,
  });
  const workbench = createWorkbench({
    data,
    service,
    lambdas,
    nowMs,
    onChange: () => feed.tell('workbench', {}),
    onFault,
  });
  unwind.add(() => workbench.stop());
  const stopListening = store.onCommit((commit, changes) => {
    feed.tell('world', { seq: commit.seq });
    feed.tell('history', { seq: commit.seq });
    gateway.changed(changes);
    lambdas.changed(changes);
    workbench.changed(changes);
    containers.service.changed(changes);
    containers.ports.changed(changes);
    for (const { before, after } of changes) {
      if (before?.type === USER && !after) credentials.forgetUser(before.id).catch(onFault);
      // A moment that is brought back may hold the gateway's address of then.
      if (after && isGateway(after.type)) core.defaults.followGateway(rootAct(view.root, 'startup')).catch(onFault);
    }
  });
  unwind.add(stopListening);

  const signIns = new AttemptLimiter(config.limits.tokenRequestsPerMinute, nowMs);
  const sessions = new WindowSessions(windowSignIn(view, credentials, signIns), nowMs);
  let firstKey: string | undefined;
  const allAddresses = () => ({
    ...addresses(),
    crmUrl: urlOf(config.host, crmAddress.port, 'https'),
    scmUrl: scm.url,
  });
  const windowUrl = (code: string) => `${addresses().baseUrl}/ui/?code=${code}`;
  const { inspect, log: logRoutes } = inspectorRoutes({
    view,
    authenticator,
    judge,
    lambdaLog: lambdas,
    containerLog: containers.service,
    containers: containers.service,
    invoker: lambdas,
    arrivals,
    leads: (query) => crm.listLeads(parseLeadFilter(Object.fromEntries(query))),
    machine: new TimeMachine(store, (changes) => {
      const { limits, allowedHostPaths } = config;
      const rules = { view, referencesOf: indexing.references, limits, allowedHostPaths, newId: randomUUID };
      return offencesOf(rules, changes);
    }),
    snapshots: data.snapshots,
    keys: windowKeys(view, credentials),
    archive: { leads, results: data.results, parseLead, version: manifest.version, nowMs },
    window: {
      feed,
      sessions,
      recorder,
      urlFor: windowUrl,
      status: () => ({
        version: manifest.version,
        addresses: allAddresses(),
        dataDir: config.data,
        store: { seq: store.seq, resources: store.world.resources.size, ...store.health() },
        engines: containers.service.engines(),
        processes: lambdas.stats(),
        viewers: feed.viewers,
        services: status().services,
      }),
    },
    settings: settingsDesk({
      config,
      origins: hooks.origins,
      addresses: allAddresses,
      data,
      recorder,
      maxLeads: MAX_LEADS,
    }),
    access: accessDesk(credentials, () => firstKey),
    scm: { url: scm.url, apiUrl: scm.apiUrl, token: config.scmToken, snapshot: () => scm.snapshot() },
    pipelines: new PipelineRuns({
      log: data.pipelines,
      nowMs,
      newId: randomUUID,
      onChange: ({ id, state }) => feed.tell('pipelines', { id, state }),
    }),
    runDemoPipeline: hooks.runDemoPipeline,
    workbench,
    outbound: { rules: outboundRules, crm: config.outbound.crm },
    freshWorld: freshWorlds(config, { addresses, nowMs, onWarning }, () => scm.apiUrl),
    seeds: new WorldSeeds({ store, config, invoker: lambdas, addresses, nowMs, onWarning }),
    securityUrlFor: (req) => addressesFor(req).securityUrl,
    onFault,
  });
  const storageFailures = () => {
    const health = store.health();
    return health.isHealthy ? [] : [health.message];
  };
  const status = () => ({
    failed: storageFailures(),
    services: {
      resources: 'running',
      security: 'running',
      gateway: 'running',
      crm: 'running',
      scm: 'running',
      containers: engineStatus(containers.service.engines()),
    },
  });
  const controlPlane = createControlPlane({
    version: manifest.version,
    allowedHosts,
    corsOrigins: config.corsOrigins,
    limits: config.limits,
    onFault,
    admit: (request) => sessions.admit(request),
    recording: {
      nowMs,
      userIdOf: ({ headers }) => {
        const who = authenticator.identify(headers.authorization);
        return who.kind === 'caller' ? who.caller.userId : undefined;
      },
      onExchange,
    },
    routers: {
      '/ui': windowFiles(packageFile('dist/renderer')),
      '/': documentation((req) => ({ ...addressesFor(req), typePrefix: config.typePrefix })),
      '/meta': resourceRoutes({
        service,
        authenticator,
        finder: core.finder,
        moves: core.moves,
        defaults: core.defaults,
        maxInstances: config.limits.maxInstances,
        addressesFor,
        rendering: { typePrefix: config.typePrefix, live: core.live },
        status: { version: manifest.version, nowMs, status, baseUrlFor: (req) => addressesFor(req).baseUrl },
        onFault,
      }),
      '/security': securityRoutes({
        view,
        credentials,
        authenticator,
        judge,
        accounts: createAccountWriter(service),
        prefix: config.typePrefix,
        addresses: addressesFor,
        version: manifest.version,
        nowMs,
        limits: config.limits,
        onFault,
      }),
      '/inspect': inspect,
      '/log': logRoutes,
    },
  });
  unwind.add(() => closeGently(controlPlane));
  unwind.add(() => arrivals.stop());
  unwind.add(async () => feed.stop());
  const basePort = await listen(controlPlane, config.host, config.basePort);
  own.baseUrl = urlOf(config.host, basePort);

  // The last to start is the first to stop: lambdas that end their work meanwhile may need the control plane.
  const gatewayAddress = await gateway.start({ host: config.host, port: config.gatewayPort });
  unwind.add(() => gateway.stop());
  own.gatewayUrl = urlOf(config.host, gatewayAddress.port);

  await core.defaults.followGateway(rootAct(view.root, 'startup'));
  await followScm(service, data.places, scm.apiUrl, rootAct(view.root, 'startup'));
  await lambdas.start();
  workbench.start();
  await containers.start();
  const rootCredentials = await settleRootAccount(service, credentials, config);
  firstKey = rootCredentials.apiKey;
  let stopped: Promise<void> | undefined;
  return {
    ...addresses(),
    crmUrl: urlOf(config.host, crmAddress.port, 'https'),
    scmUrl: scm.url,
    dataDir: config.data,
    worldId: store.world.id,
    rootCredentials,
    windowUrl: () => windowUrl(sessions.createCode()),
    tour: findTour(view, addresses().gatewayUrl),
    stop: () => {
      stopped ??= unwind.run();
      return stopped;
    },
  };
}

/** Public addresses that a person or a pipeline begins with, of the endpoints that the demo world and the specification name. */
function findTour(view: WorldView, gatewayUrl: string): { leadUrl?: string; deployUrl?: string } {
  const urlOfEndpoint = (path: string) => {
    const endpoint = view.all('apiendpoints').find((one) => one.properties.resource === path);
    return endpoint && publicUrlOf(view, endpoint, gatewayUrl);
  };
  const [leadUrl, deployUrl] = [urlOfEndpoint('/lead'), urlOfEndpoint('/deploy')];
  return { ...(leadUrl && { leadUrl }), ...(deployUrl && { deployUrl }) };
}

/** The engines in a few words, for `/about`. */
function engineStatus(engines: readonly EngineView[]): string {
  const troubled = engines.find(({ state }) => state === 'unreachable');
  if (troubled?.reason) return troubled.reason;
  if (engines.some(({ state }) => state === 'connecting')) return 'connecting';
  return engines.length === 0 ? 'no provider runs containers' : 'running';
}
