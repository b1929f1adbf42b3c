import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { sendRequest, within } from '../../api/client/send-request.ts';
import { containerRoutes } from '../../api/routes/containers.ts';
import { plainLogRoutes } from '../../api/routes/logs.ts';
import { windowRoutes } from '../../api/routes/window.ts';
import { reasonOf } from '../../model/errors.ts';
import type { PipelineApp, PipelineRun } from '../../model/pipeline-run.ts';
import { type PlatformCalls, unlessMissing } from './platform-calls.ts';

/** Time from the deployment of an app to its first response, while it reports nothing. */
const LIMIT_MS = 60_000;
/** Time for an ended instance to run again: it may wait for another app of the deployment. */
const CRASH_LIMIT_MS = 8_000;
/** The time for which an app may respond with an error while it starts. */
const ERROR_LIMIT_MS = 5_000;
const LOOK_EVERY_MS = 200;
/** Long enough for a slow app, and short enough to ask again one that lost a request while it started. */
const ANSWER_TIMEOUT_MS = 20_000;
const LOG_LINES = 30;
/** The statuses of the gateway itself while no instance is ready. */
const NOT_READY_STATUSES = [502, 503, 504];

const ANY_GOOD = [{ path: '/', status: undefined }];

const container = z.looseObject({
  name: z.string(),
  properties: z.looseObject({
    status: z.string(),
    status_detail: z.looseObject({ reason: z.string().optional() }).nullish(),
    image: z.string().optional(),
    num_instances: z.int().optional(),
  }),
});

const endpoint = z.looseObject({ properties: z.looseObject({ public_url: z.string().optional() }) });

/** An app that a run deployed, and the addresses at which it should respond. */
export interface Deployed {
  /** Undefined if the container is unknown. */
  containerId: string | undefined;
  name: string;
  urls: readonly string[];
}

/** A path that has to respond with a status, instead of any path with 2xx or 3xx. */
export interface Expectation {
  path: string;
  status: number;
}

interface WatchOptions {
  signal: AbortSignal;
  expected: readonly Expectation[];
  report(text: string): void;
}

/** Result of one check; undefined while there is no result. */
type Finding = { app: Partial<PipelineApp>; isGood: boolean } | undefined;

/** Waits until the newest definition of an app serves and its addresses respond; resolves with `problem` when they do not. */
export async function waitForApp(
  platform: PlatformCalls,
  deployed: Deployed,
  { signal, expected, report }: WatchOptions,
): Promise<PipelineApp> {
  let untilMs = performance.now() + LIMIT_MS;
  let last = 'no request sent yet';
  const reported = new Set<string>();
  /** The observations of the present look and of the one before, with the times at which they began. */
  let observed = new Map<string, number>();
  let observedBefore = observed;
  const watching: Watching = {
    expected,
    signal,
    report(text) {
      last = text;
      if (reported.has(text)) return; // what comes again and again is no news
      reported.add(text);
      untilMs = performance.now() + LIMIT_MS;
      report(text);
    },
    lasts(observation, limitMs) {
      const startedMs = observedBefore.get(observation) ?? performance.now();
      observed.set(observation, startedMs);
      return performance.now() - startedMs >= limitMs;
    },
  };
  let found: Finding;
  while (!found && performance.now() < untilMs) {
    [observedBefore, observed] = [observed, new Map()];
    found = await look(platform, deployed, watching);
    if (!found) await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  const { app, isGood } = found ?? {
    app: { problem: `it did not respond within ${LIMIT_MS / 1_000} s: ${last}` },
    isGood: false,
  };
  const { containerId, name } = deployed;
  // A log of a successful deployment does not end with the error that came before.
  if (isGood && reported.size > 0 && app.url !== undefined) report(`${app.url} responds with ${app.status}`);
  if (!isGood && containerId !== undefined) await tellState(platform, containerId, name, report);
  return { ...(containerId !== undefined && { containerId }), name, ...app };
}

interface Watching extends Pick<WatchOptions, 'expected' | 'signal'> {
  report(text: string): void;
  /** True if every look has made the observation for that time. */
  lasts(observation: string, limitMs: number): boolean;
}

async function look(
  platform: PlatformCalls,
  { containerId, name, urls }: Deployed,
  watching: Watching,
): Promise<Finding> {
  if (containerId === undefined) return responsesOf(urls, {}, watching);
  const path = `/meta/root/containers/${encodeURIComponent(containerId)}`;
  const record = await unlessMissing(platform.json('GET', path, container));
  if (!record) return failed('its container was deleted');
  const { status, status_detail: detail, image, num_instances: expectedInstances = 1 } = record.properties;
  const reason = detail?.reason;
  if (expectedInstances === 0) return { app: { ...(image !== undefined && { image }), instances: 0 }, isGood: true };
  if (status === 'FAILED') return failed(`its container is FAILED: ${reason ?? 'no reason is known'}`);
  // One that does not respond may be back any time; one that is switched off may not.
  if (status === 'LOST' && (await isEngineOff(platform)))
    return failed(`its container cannot run: ${reason ?? 'no container engine is attached'}`);
  const instances = await platform
    .ask(containerRoutes.listInstances, { path: { container_id: containerId } })
    .catch(() => []); // the engine is away, which its status says
  const isDown = instances.some(({ isCurrent, state, exitCode }) => {
    return isCurrent && state !== 'running' && state !== 'starting' && exitCode !== undefined;
  });
  if (isDown && watching.lasts('down', CRASH_LIMIT_MS))
    return failed(`its container is ${status}: ${reason ?? 'it ended'}`);
  const running = instances.filter(({ isCurrent, state }) => isCurrent && state === 'running').length;
  const isServing = running === expectedInstances && instances.every(({ isCurrent }) => isCurrent);
  if (isServing && status !== 'UNHEALTHY' && status !== 'LOST')
    return responsesOf(urls, { ...(image !== undefined && { image }), instances: running }, watching);
  const isOld = instances.some(({ isCurrent }) => !isCurrent);
  watching.report(
    `container ${name} is ${status}${isOld ? ', and its old instances still serve' : ''}${reason ? `: ${reason}` : ''}`,
  );
  return undefined;
}

async function responsesOf(
  urls: readonly string[],
  app: Partial<PipelineApp>,
  { expected, signal, report, lasts }: Watching,
): Promise<Finding> {
  let first: Partial<PipelineApp> = {};
  for (const base of urls) {
    for (const { path, status: expectedStatus } of expected.length > 0 ? expected : ANY_GOOD) {
      const url = path === '/' ? base : `${base.replace(/\/$/, '')}${path}`;
      const status = await statusOf(url, signal);
      const isGood =
        expectedStatus === undefined ? Number(status) >= 200 && Number(status) < 400 : status === expectedStatus;
      if (isGood) {
        if (first.url === undefined) first = { url: base, status: Number(status) };
        continue;
      }
      const observation = typeof status === 'number' ? `responds with ${status}` : `does not respond (${status})`;
      const isWaiting = typeof status === 'string' || NOT_READY_STATUSES.includes(status);
      if (isWaiting || !lasts(`${url} ${status}`, ERROR_LIMIT_MS)) {
        report(`${url} ${observation}`);
        return undefined;
      }
      const help =
        expectedStatus === undefined
          ? `2xx or 3xx. To accept it, set --expect ${path}=${status}`
          : String(expectedStatus);
      return { app: { ...app, url, status, problem: `${url} ${observation}, expected ${help}` }, isGood: false };
    }
  }
  return { app: { ...app, ...first }, isGood: true };
}

const failed = (problem: string): Finding => ({ app: { problem }, isGood: false });

/** Prints the state and the end of the log of a container that does not serve. */
async function tellState(
  platform: PlatformCalls,
  id: string,
  name: string,
  report: (text: string) => void,
): Promise<void> {
  const path = { container_id: id };
  const instances = await platform.ask(containerRoutes.listInstances, { path }).catch(() => []);
  for (const { id: instance, state, exitCode, image, error } of instances)
    report(
      `${name}: instance ${instance.slice(0, 12)} of ${image} is ${state}${exitCode === undefined ? '' : `, exit code ${exitCode}`}${error ? `: ${error}` : ''}`,
    );
  const lines = await platform.ask(plainLogRoutes.readContainerLog, { path }).catch(() => []);
  for (const line of lines.slice(-LOG_LINES)) report(`${name}> ${line}`);
}

/** True if there is no container engine, and none was requested. Another platform does not report this. */
async function isEngineOff(platform: PlatformCalls): Promise<boolean> {
  const status = await platform.ask(windowRoutes.readStatus).catch(() => undefined);
  return status !== undefined && status.engines.length > 0 && status.engines.every(({ state }) => state === 'off');
}

async function statusOf(url: string, signal: AbortSignal): Promise<number | string> {
  try {
    const { status, body } = await sendRequest(url, { signal, limits: within(ANSWER_TIMEOUT_MS) });
    body.destroy();
    return status;
  } catch (failure) {
    signal.throwIfAborted();
    return reasonOf(failure);
  }
}

interface AppAddresses {
  /** Address of the deployment endpoint: what has the same origin is behind the gateway. */
  deployUrl: string | undefined;
  environments: ReadonlyMap<string, string | undefined>;
}

/** The containers that a run created or changed, with the addresses to check: those of their environments, or of their endpoints. */
export async function appsOf(
  platform: PlatformCalls,
  { changed = [], deployments = [] }: Pick<PipelineRun, 'changed' | 'deployments'>,
  { deployUrl, environments }: AppAddresses,
): Promise<Deployed[]> {
  const urlOf = async (id: string) => {
    const found = await platform.json('GET', `/meta/root/apiendpoints/${id}`, endpoint).catch(() => undefined);
    return found?.properties.public_url ?? [];
  };
  const apps: Deployed[] = await Promise.all(
    changed.map(async ({ id, name, endpointIds }) => ({
      containerId: id,
      name,
      urls: (await Promise.all(endpointIds.map(urlOf))).flat(),
    })),
  );
  // A deployment of the same definition changes nothing, but its image may be another one.
  const last = deployments.findLast(({ problem }) => problem === undefined);
  const { container, published } = last ?? {};
  if (last?.action !== 'stop' && container && !apps.some(({ containerId }) => containerId === container.id))
    apps.push({ containerId: container.id, name: container.name, urls: published ? [published.url] : [] });

  const knownUrls = [deployUrl, ...apps.flatMap(({ urls }) => urls)].flatMap((url) => url ?? []);
  const origins = new Set(knownUrls.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin));
  for (const [name, url] of environments) {
    // What is not behind the gateway is not this platform's.
    if (url === undefined || !URL.canParse(url) || !origins.has(new URL(url).origin)) continue;
    const [firstApp] = apps;
    const deployedApp =
      apps.find(({ urls }) => urls.some((appUrl) => url.startsWith(appUrl))) ??
      (apps.length === 1 ? firstApp : undefined);
    if (deployedApp) apps[apps.indexOf(deployedApp)] = { ...deployedApp, urls: [url] };
    else apps.push({ containerId: undefined, name, urls: [url] });
  }
  return apps;
}
