import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { deliveryRows } from '../contract/delivery.ts';
import { masked } from '../model/masked-text.ts';
import { hasEnded, type PipelineJob, type PipelineProgress, type PipelineStart } from '../model/pipeline-run.ts';
import { reasonOf } from '../model/reason.ts';
import { folderName, keepArtifacts } from './artifacts.ts';
import type { Checkout } from './checkout.ts';
import type { ChosenJobs } from './choose-jobs.ts';
import { type Deployed, whenItAnswers } from './deployed.ts';
import { EngineCommand } from './engine-command.ts';
import { runJob } from './job-execution.ts';
import { noRoom } from './no-room.ts';
import { CANCELED } from './pipeline-error.ts';
import type { PipelineEnd, PipelineRequest, PipelineSurroundings } from './pipeline-request.ts';
import type { PlannedJob } from './plan.ts';
import { keptFolder, type RunFolder } from './run-folder.ts';
import { RunLog } from './run-log.ts';
import { runJobs } from './schedule.ts';
import type { ScmClient, ScmProjectRecord } from './scm-client.ts';

interface RecordedRunOptions {
  asked: PipelineRequest;
  around: PipelineSurroundings;
  folder: RunFolder;
  scm: ScmClient;
  project: ScmProjectRecord;
  checkout: Checkout;
  /** What the record begins with. */
  start: Omit<PipelineStart, 'jobs'>;
  chosen: ChosenJobs;
  filesDir: string | undefined;
  /** Never shown. */
  secrets: readonly string[];
}

/** Runs the jobs, one after the other or side by side, and keeps the platform's record of them up to date. */
export async function recordedRun(options: RecordedRunOptions): Promise<PipelineEnd> {
  const { asked, around, folder, scm, project, checkout, start, chosen, secrets } = options;
  const { platform, signal, say, env, onBegin } = around;
  const { only, usesShell, repository } = asked;
  const { jobs, stages, variables, tracked } = chosen;
  const isChosen = ({ name, base }: PlannedJob) => only.includes(name) || only.includes(base);
  const shown = jobs.filter((job) => job.when !== 'manual' || isChosen(job));
  const records: PipelineJob[] = shown.map(({ name, stage }) => ({ name, stage, state: 'waiting' }));
  const { id } = await platform.ask(deliveryRows.beginPipelineRun, { json: { ...start, jobs: records } });
  const path = { pipeline_id: id };
  onBegin?.({ id });
  const tell = (progress: Partial<PipelineProgress> & Pick<PipelineProgress, 'jobs'>) =>
    platform.ask(deliveryRows.tellPipelineRun, { path, json: masked({ state: 'running', ...progress }, secrets) });
  const log = new RunLog({ jobs: records, secrets, say, tell: (news) => tell({ ...news, jobs: [...news.jobs] }) });
  const place = join(keptFolder(), folderName(`${platform.baseUrl} ${project.path_with_namespace}`));
  const artifacts = { runDir: join(folder.path, 'artifacts'), keptDir: join(place, 'artifacts', checkout.sha) };
  let environment: string | undefined;
  try {
    await folder.note({ runId: id });
    const engine = usesShell ? { absence: '--shell was given' } : await EngineCommand.find({ env, mark: folder.mark });
    if ('program' in engine) await folder.note({ engine: engine.program });
    await runJobs({
      jobs,
      stages,
      isChosen,
      isOrdered: only.length === 0,
      maxAtOnce: Math.max(2, availableParallelism()),
      signal,
      onSkip: ({ name, allowFailure }, why) => {
        log.change(name, { state: 'skipped' });
        if (why === 'manual' && allowFailure !== true)
          log.say(`job '${name}' is manual, and what comes after it waits for it: run it with --job '${name}'`);
      },
      run: (job) =>
        runJob(job, {
          folder: folder.path,
          checkoutDir: checkout.dir,
          tracked,
          runId: id,
          projectPath: project.path_with_namespace,
          variables,
          filesDir: options.filesDir,
          engine,
          env: { DOCKER_BUILDKIT: '0', ...env },
          artifacts,
          cacheDir: join(place, 'cache'),
          log,
          signal,
          onPlace: async ({ name, action }, url, isDone) => {
            if (action === 'stop') {
              const found = isDone ? await scm.environment(project, name) : undefined;
              if (found) await scm.stopEnvironment(project, found);
              if (isDone && environment === name) environment = undefined;
            } else if (action === 'start' || action === 'prepare') {
              const one = await scm.ensureEnvironment(project, name);
              environment = name;
              if (isDone && url) await scm.tellUrl(project, one, url);
            }
          },
        }),
    });
    if (signal.aborted) log.cancelRest();
    const hasFailed = log.jobs.some(({ state, mayFail }) => state === 'failed' && !mayFail);
    const deployed = hasFailed || signal.aborted ? undefined : await deployedBy(options, id, environment);
    let state: PipelineProgress['state'] = signal.aborted ? 'canceled' : hasFailed ? 'failed' : 'success';
    if (state === 'success' && deployed && asked.waits) {
      log.say(`waiting for the app of '${repository.branch}' to answer`);
      const trouble = await whenItAnswers(platform, deployed, { signal, tell: (text) => log.say(text) }).catch(
        reasonOf,
      );
      if (signal.aborted) state = 'canceled';
      else if (trouble !== undefined) {
        state = 'failed';
        log.say(`the app of '${repository.branch}' is not up: ${trouble}`);
      }
    }
    const exitCode = state === 'success' ? 0 : state === 'canceled' ? CANCELED : 1;
    const appUrl = state === 'success' ? deployed?.url : undefined;
    await keepArtifacts(artifacts).catch(() => undefined); // only retries of single jobs miss them
    await log.flush();
    await tell({ state, jobs: log.jobs, exitCode, ...(appUrl !== undefined && { appUrl }) });
    // As a pipeline's server does: how each job of the commit ended.
    for (const { name, state: is } of log.jobs.filter(hasEnded))
      await scm.setStatus(project, checkout.sha, { ref: repository.branch, name, state: is });
    return { id, exitCode, appUrl };
  } catch (failure) {
    // Nobody else tells the platform that it has ended.
    log.cancelRest();
    log.say((noRoom(failure) ?? Object(failure)).message);
    await log.flush();
    await tell({ state: signal.aborted ? 'canceled' : 'failed', jobs: log.jobs, exitCode: 1 }).catch(() => undefined);
    throw failure;
  } finally {
    log.end();
  }
}

/** What the run has deployed last; undefined when that was nothing, or it was taken away. */
async function deployedBy(
  { around, scm, project, start: { deployUrl } }: RecordedRunOptions,
  id: string,
  environment: string | undefined,
): Promise<Deployed | undefined> {
  const gateway = deployUrl === undefined ? undefined : new URL(deployUrl).origin;
  const { deployments = [] } = await around.platform.ask(deliveryRows.readPipelineRun, { path: { pipeline_id: id } });
  const last = deployments.findLast(({ problem }) => problem === undefined);
  if (last?.action === 'stop') return undefined;
  if (last) return { containerId: last.container?.id, url: last.published?.url };
  // Through an endpoint of somebody's own: the environment may say where the app is.
  const found = environment === undefined ? undefined : await scm.environment(project, environment);
  if (!found?.external_url || !URL.canParse(found.external_url)) return undefined;
  // What is not behind the gateway is not ours to wait for.
  return new URL(found.external_url).origin === gateway
    ? { containerId: undefined, url: found.external_url }
    : undefined;
}
