import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryRoutes } from '../../api/routes/delivery.ts';
import { windowRoutes } from '../../api/routes/window.ts';
import { reasonOf } from '../../model/errors.ts';
import type {
  PipelineApp,
  PipelineDeployment,
  PipelineJob,
  PipelineProgress,
  PipelineRun,
  PipelineStart,
} from '../../model/pipeline-run.ts';
import { masked } from '../../model/rules/mask.ts';
import { projectStorageFolder, storeRunArtifacts, storeVariables } from './artifacts.ts';
import { type ChildOptions, childPipelines, type ExpectedChild, firstRecord, jobsIn } from './child-pipeline.ts';
import type { ChosenJobs } from './choose-jobs.ts';
import { appsOf, waitForApp } from './deployed.ts';
import { JobEngine } from './job-engine.ts';
import { CANCELED, diskFullError, PipelineError } from './pipeline-error.ts';
import type { PipelineContext, PipelineEnd, PipelineRequest } from './pipeline-request.ts';
import { isAmong } from './plan.ts';
import type { RunFolder } from './run-folder.ts';
import { type FindEngine, type JobsOptions, withoutEngine } from './run-job.ts';
import { runJobs, type SkipReason } from './run-jobs.ts';
import { RunLog } from './run-log.ts';
import type { ScmClient } from './scm-client.ts';
import { spanMs } from './time-span.ts';

/** As on the server, a week. */
const MAX_DELAY_MS = 604_800_000;

const SKIP_REASONS: Readonly<Record<SkipReason, string>> = {
  manual: 'a manual job runs when it is started in the window, or with --job NAME',
  failure: 'an earlier job failed or was skipped',
  'no failure': 'no earlier job failed',
  blocked: 'an earlier manual job did not run',
};

interface RecordedRunOptions extends Pick<JobsOptions, 'checkout' | 'project'> {
  request: PipelineRequest;
  context: PipelineContext;
  folder: RunFolder;
  scm: ScmClient;
  /** The part of the record that is known when the run starts. */
  start: Omit<PipelineStart, 'jobs'>;
  chosen: ChosenJobs;
  /** Its child pipelines, as far as they are known. */
  children: ReadonlyMap<string, ExpectedChild>;
  /** Never shown. */
  secrets: readonly string[];
}

/** Runs the jobs, one after the other or side by side, and keeps the platform's record of them up to date. */
export async function recordedRun(options: RecordedRunOptions): Promise<PipelineEnd> {
  const { env, containerEngine } = options.context;
  let engine: ReturnType<FindEngine> | undefined;
  // Only for a job that needs it: an engine that hangs does not hold up a run without images.
  const findEngine = () => {
    engine ??= JobEngine.find(env, containerEngine, basename(options.folder.path));
    return engine;
  };
  try {
    return await runWith(options, findEngine);
  } finally {
    const usedEngine = await engine;
    if (usedEngine && !('absence' in usedEngine)) await usedEngine.end();
  }
}

async function runWith(options: RecordedRunOptions, findEngine: FindEngine): Promise<PipelineEnd> {
  const { request, context, project, secrets } = options;
  const { platform, signal, reportLine, onBegin, onSection } = context;
  const startedRun = await beginRun(options, findEngine);
  const { id } = startedRun;
  onBegin?.({ id });
  await storeVariables(project.web_url, id, request.typed).catch(() => undefined); // only a retry misses them
  const path = { pipeline_id: id };
  const reportProgress = (progress: Partial<PipelineProgress> & Pick<PipelineProgress, 'jobs'>) =>
    platform.ask(deliveryRoutes.tellPipelineRun, { path, json: masked({ state: 'running', ...progress }, secrets) });
  const log = new RunLog({
    jobs: startedRun.records,
    secrets,
    reportLine,
    ...(onSection && { onSection }),
    report: (progress) => reportProgress({ ...progress, jobs: [...progress.jobs] }),
  });
  try {
    const { state, apps } = await runAll(options, startedRun, log);
    const exitCode = state === 'success' ? 0 : state === 'canceled' ? CANCELED : 1;
    const appUrl = state === 'success' ? apps.findLast(({ url }) => url !== undefined)?.url : undefined;
    await log.flush();
    await reportProgress({ state, jobs: log.jobs, exitCode, apps, ...(appUrl !== undefined && { appUrl }) });
    return { id, exitCode, appUrl };
  } catch (failure) {
    // Only this code reports the end to the platform.
    log.cancelRest();
    log.printLine((diskFullError(failure) ?? Object(failure)).message);
    await log.flush();
    await reportProgress({ state: signal.aborted ? 'canceled' : 'failed', jobs: log.jobs, exitCode: 1 }).catch(
      () => undefined,
    );
    throw failure;
  } finally {
    log.end();
  }
}

/** Records the run on the platform, if its jobs can run. */
async function beginRun(
  { request, context: { platform }, start, chosen, children }: RecordedRunOptions,
  findEngine: FindEngine,
) {
  const isChosen = isAmong(request.only);
  const jobs = [...chosen.jobs, ...jobsIn(children)];
  const records = jobs.map((job) => firstRecord(job, isChosen));
  const inImage = jobs.find(
    ({ definition }, index) => records[index]?.state === 'waiting' && definition.image && definition.script,
  );
  const engine = inImage && !request.usesShell ? await findEngine() : undefined;
  if (inImage && engine && 'absence' in engine)
    throw new PipelineError(`job '${inImage.name}' cannot run: ${withoutEngine(engine)}`);
  const { addresses } = await platform.ask(windowRoutes.readStatus);
  const platformUrls = [platform.baseUrl, ...Object.values(addresses)];
  const { id, iid } = await platform.ask(deliveryRoutes.beginPipelineRun, { json: { ...start, jobs: records } });
  return { id, iid, records, findEngine, platformUrls };
}

/** The names of jobs that did not run, by the reason. */
type SkippedJobs = ReadonlyMap<SkipReason | 'blocking', string[]>;
type RunResult = Pick<PipelineProgress, 'state'> & { apps: PipelineApp[] };

/** Runs the jobs of a run that the platform knows. */
async function runAll(
  options: RecordedRunOptions,
  { id, iid, findEngine, platformUrls }: Awaited<ReturnType<typeof beginRun>>,
  log: RunLog,
): Promise<RunResult> {
  const { request, context, folder, checkout, project, scm, chosen } = options;
  const projectFolder = projectStorageFolder(project.web_url);
  if (projectFolder === undefined)
    context.reportLine(
      'no caches or artifacts are kept for later runs: another user of this machine has created their folder. Set TMPDIR to another folder.',
    );
  const storageFolder = projectFolder ?? join(folder.path, 'kept');
  const artifacts = {
    runDir: join(folder.path, 'artifacts'),
    storedDir: join(storageFolder, 'artifacts', checkout.sha),
  };
  await folder.note({ runId: id });
  const predefined = { ...chosen.variables.predefined, ...(iid !== undefined && { CI_PIPELINE_IID: String(iid) }) };
  const variables = { ...chosen.variables, predefined };
  /** The environments of its jobs, with the addresses that are known. */
  const environments = new Map<string, string | undefined>();
  const skipped = new Map<SkipReason | 'blocking', string[]>();
  const schedule = scheduleOf(request, context.signal, log, (why, name) =>
    skipped.set(why, [...(skipped.get(why) ?? []), name]),
  );
  const children = childPipelines({
    ...options,
    runId: id,
    facts: chosen.facts,
    tracked: new Set(checkout.files),
    variables,
    artifacts,
    cacheDir: join(storageFolder, 'cache'),
    platformUrls,
    findEngine,
    log,
    schedule,
    async onEnvironment({ name, action }, url, isDone) {
      if (action === 'stop') {
        const found = isDone ? await scm.environment(project, name) : undefined;
        if (found) await scm.stopEnvironment(project, found);
        if (isDone) environments.delete(name);
      } else if (action === 'start' || action === 'prepare') {
        const environment = await scm.ensureEnvironment(project, name);
        environments.set(name, url);
        if (isDone && url) await scm.setUrl(project, environment, url);
      }
    },
  });
  await runJobs({ ...schedule, ...chosen, run: (job) => children.run(job, variables) });
  await children.ended();
  const result = await resultOf(options, id, { log, skipped, environments });
  await storeRunArtifacts(artifacts).catch(() => undefined); // only retries of single jobs miss them
  return result;
}

function scheduleOf(
  request: PipelineRequest,
  signal: AbortSignal,
  log: RunLog,
  noteSkipped: (why: SkipReason | 'blocking', name: string) => void,
): ChildOptions['schedule'] {
  const isChosen = isAmong(request.only);
  return {
    isChosen,
    maxAtOnce: Math.max(2, availableParallelism()),
    signal,
    async delay(job) {
      const { startIn: delay } = job;
      const ms = Math.min(spanMs(delay) ?? 0, MAX_DELAY_MS);
      if (ms === 0) return;
      if (!request.delays || isChosen(job)) return log.note(job.name, `starts without its delay of ${delay}`);
      log.note(job.name, `starts in ${delay}. To start delayed jobs at once, use --no-delay.`);
      await sleep(ms, undefined, { signal }).catch(() => undefined);
    },
    onSkip({ name, ownName, allowFailure }, why) {
      if (why !== 'manual') log.change(name, { state: 'skipped' });
      if (why !== 'manual' || allowFailure === true) return noteSkipped(why, name);
      noteSkipped('blocking', name);
      const advice =
        ownName === undefined ? `To run it, use --job '${name}'.` : 'A job of a child pipeline cannot be started.';
      log.printLine(`job '${name}' is manual and blocks the pipeline. ${advice}`);
    },
  };
}

/** Decides how a run whose jobs have ended ends, and waits for what it deployed. */
async function resultOf(
  options: RecordedRunOptions,
  id: string,
  {
    log,
    skipped,
    environments,
  }: { log: RunLog; skipped: SkippedJobs; environments: ReadonlyMap<string, string | undefined> },
): Promise<RunResult> {
  const { platform, signal } = options.context;
  if (signal.aborted) log.cancelRest();
  else log.skipRest();
  const hasFailed = log.jobs.some(({ state, mayFail }) => state === 'failed' && !mayFail);
  const isOver = hasFailed || signal.aborted;
  const run = await platform.ask(deliveryRoutes.readPipelineRun, { path: { pipeline_id: id } });
  const rejected = isOver ? undefined : rejectedIn(run.deployments ?? [], log.jobs);
  let state: PipelineProgress['state'] = signal.aborted ? 'canceled' : hasFailed || rejected ? 'failed' : 'success';
  for (const [why, names] of skipped) {
    const listed = names.map((name) => `'${name}'`).join(', ');
    if (why !== 'blocking') log.printLine(`skipped ${listed}: ${SKIP_REASONS[why]}`);
    else if (state === 'success') {
      state = 'failed';
      log.printLine(`the pipeline is blocked by ${listed}: manual jobs do not start by themselves`);
    }
  }
  if (rejected) log.printLine(`no job failed, but a deployment was rejected: ${rejected.problem}`);
  const apps = state === 'success' ? await watchedApps(options, run, environments, log) : [];
  if (signal.aborted) state = 'canceled';
  else if (apps.some(({ problem }) => problem !== undefined)) state = 'failed';
  return { state, apps };
}

/** The rejected deployment of a run whose jobs took no notice of it; undefined if a later one of the same image succeeded. */
function rejectedIn(deployments: readonly PipelineDeployment[], jobs: readonly PipelineJob[]) {
  // A job that may fail has reported it.
  if (jobs.some(({ state }) => state === 'failed')) return undefined;
  return deployments.find(({ problem, action, image }, at) => {
    const isRepaired = deployments.some(
      (later, index) => index > at && !later.problem && later.action === action && later.image === image,
    );
    return problem !== undefined && !isRepaired;
  });
}

/** Waits for all that the run deployed, and notes the result on the merge request. */
async function watchedApps(
  { request, context, scm, project, start: { deployUrl, mergeRequest } }: RecordedRunOptions,
  run: Pick<PipelineRun, 'id' | 'changed' | 'deployments'>,
  environments: ReadonlyMap<string, string | undefined>,
  log: RunLog,
): Promise<PipelineApp[]> {
  const { platform, signal } = context;
  const environmentUrls = new Map(environments);
  // A deployment lambda may have set the address.
  for (const [name, url] of environments)
    if (url === undefined) environmentUrls.set(name, (await scm.environment(project, name))?.external_url ?? undefined);
  const found = await appsOf(platform, run, { deployUrl, environments: environmentUrls });
  if (!request.waits) {
    return found.map(({ containerId, name, urls: [url] }) => {
      return { ...(containerId !== undefined && { containerId }), name, ...(url !== undefined && { url }) };
    });
  }
  if (found.length > 0)
    log.printLine(
      `waiting for the app of '${request.repository.branch}' to respond: ${found.map(({ name }) => name).join(', ')}`,
    );
  const options = { signal, expected: request.expected, report: (text: string) => log.printLine(text) };
  const apps: PipelineApp[] = await Promise.all(
    found.map((deployed) =>
      waitForApp(platform, deployed, options).catch((failure) => ({
        name: deployed.name,
        problem: reasonOf(failure),
      })),
    ),
  );
  if (signal.aborted) return apps;
  for (const { name, image = 'an unknown image', instances, url, status, problem } of apps) {
    if (problem !== undefined) log.printLine(`the app ${name} is not available: ${problem}`);
    const count = instances === undefined ? '' : ` with ${instances} ${instances === 1 ? 'instance' : 'instances'}`;
    const answer = status === undefined ? '' : `, ${url} responded with ${status}`;
    const text =
      problem === undefined ? `${name} runs ${image}${count}${answer}` : `${name} is not available: ${problem}`;
    if (mergeRequest) await scm.addNote(project, mergeRequest.iid, `Pipeline ${run.id.slice(0, 8)}: ${text}`);
  }
  return apps;
}
