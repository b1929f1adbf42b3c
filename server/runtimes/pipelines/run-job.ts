import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jobNumber } from '../../mocks/scm/scm-pipelines.ts';
import { reasonOf } from '../../model/errors.ts';
import { runProgram } from '../../system/programs.ts';
import { SYSTEM } from '../../system/this-system.ts';
import {
  type ArtifactStore,
  bringArtifacts,
  clearArtifacts,
  coverageReader,
  dotenvOf,
  folderName,
  restoreCaches,
  saveCaches,
  uploadArtifacts,
} from './artifacts.ts';
import type { Checkout } from './checkout.ts';
import type { AllowFailure } from './definition-schema.ts';
import { git } from './git.ts';
import type { JobEngine } from './job-engine.ts';
import { identityOf, valuesInEnvironment } from './job-identity.ts';
import { jobScripts } from './job-script.ts';
import { asVariables, expandText, type RunVariables } from './job-variables.ts';
import { diskFullError } from './pipeline-error.ts';
import type { PipelineContext, PipelineRequest } from './pipeline-request.ts';
import type { PlannedJob } from './plan.ts';
import type { RunFolder } from './run-folder.ts';
import { projectDirInContainer, runInContainer, usesDocker } from './run-in-container.ts';
import type { ScheduledOutcome } from './run-jobs.ts';
import { duration, type RunLog } from './run-log.ts';
import { type JobOutcome, runOnHost } from './run-on-host.ts';
import type { ScmProjectRecord } from './scm-client.ts';
import { spanMs } from './time-span.ts';

/** GitLab's limit for a job that sets none, which here has no limit. */
const DEFAULT_TIMEOUT_MS = 3_600_000;

export type FindEngine = () => Promise<JobEngine | { absence: string }>;

interface JobEnvironment {
  name: string;
  url: string | undefined;
  action: string;
}

export interface JobsOptions {
  request: Pick<PipelineRequest, 'repository' | 'isForced' | 'usesShell'>;
  context: Pick<PipelineContext, 'env' | 'signal'>;
  /** The folder of the run; in its `jobs` each job has a folder. */
  folder: Pick<RunFolder, 'path' | 'filesDir'>;
  /** The commit's files; each job works in a copy of them. */
  checkout: Checkout;
  project: ScmProjectRecord;
  runId: string;
  tracked: ReadonlySet<string>;
  variables: RunVariables;
  artifacts: ArtifactStore;
  cacheDir: string;
  platformUrls: readonly string[];
  findEngine: FindEngine;
  log: RunLog;
  /** Before a job with an environment begins, and when it has done well. */
  onEnvironment(jobEnvironment: JobEnvironment, url: string | undefined, isDone: boolean): Promise<void>;
}

/** Runs one job: prepares its inputs, runs it here or in its image, and stores its results. */
export async function runJob(job: PlannedJob, options: JobsOptions): Promise<ScheduledOutcome> {
  const { log, context } = options;
  const { retry } = job.definition;
  const attempts = 1 + (retry?.max ?? 0);
  for (let attempt = 1; ; attempt += 1) {
    log.begin(job.name);
    const {
      exitCode,
      reason,
      kind = 'script_failure',
    } = await attemptJob(job, options, attempt).catch((failure): JobOutcome => {
      const reason = diskFullError(failure)?.message ?? reasonOf(failure);
      return { exitCode: 1, reason, kind: 'runner_system_failure' };
    });
    if (context.signal.aborted) {
      log.change(job.name, { state: 'canceled', durationMs: log.elapsedMs(job.name) });
      log.note(job.name, 'canceled');
      return 'failed';
    }
    if (reason !== undefined) log.note(job.name, `> ${reason}`);
    // Only a script has an exit code.
    const scriptCode = kind === 'script_failure' ? exitCode : undefined;
    const mayFail = exitCode !== 0 && isAllowed(job.allowFailure, scriptCode);
    const verdict = exitCode === 0 ? '' : `  ${mayFail ? 'WARN' : 'FAIL'} ${exitCode}`;
    log.note(job.name, `finished in ${duration(log.elapsedMs(job.name))}${verdict}`);
    const isRetried =
      retry?.when.some((condition) => condition === 'always' || condition === kind) ||
      (scriptCode !== undefined && retry?.exitCodes.includes(scriptCode));
    if (exitCode === 0 || attempt >= attempts || !isRetried) {
      log.change(job.name, {
        state: exitCode === 0 ? 'success' : 'failed',
        exitCode,
        durationMs: log.elapsedMs(job.name),
        ...(mayFail && { mayFail }),
      });
      return exitCode === 0 || mayFail ? 'done' : 'failed';
    }
    log.note(job.name, `retry ${attempt} of ${attempts - 1}`);
  }
}

async function attemptJob(job: PlannedJob, options: JobsOptions, attempt: number): Promise<JobOutcome> {
  const { log, findEngine, folder, context } = options;
  const { definition, name } = job;
  const engine = definition.image && !options.request.usesShell ? await findEngine() : undefined;
  if (engine && 'absence' in engine)
    return { exitCode: 1, reason: withoutEngine(engine), kind: 'runner_system_failure' };
  const isInImage = engine !== undefined;
  const inputs = await bringInputs(job, options, attempt, isInImage);
  const { buildsDir, scriptDir, projectDir, values, jobId } = inputs;
  if (inputs.place) await options.onEnvironment(inputs.place, undefined, false);
  noteStart(job, log, isInImage, values);
  const readCoverage = definition.coverage ? coverageReader(definition.coverage) : undefined;
  let coverage: number | undefined;
  const limit = spanMs(definition.timeout ?? undefined);
  const late = limit === undefined ? undefined : AbortSignal.timeout(limit);
  const toRun = {
    ...inputs,
    dockerSocket: usesDocker(definition) ? join(folder.path, `${jobId}.sock`) : undefined,
    image: definition.image ?? undefined,
    services: definition.services ?? [],
    variables: isInImage ? await bringFiles(values, folder.filesDir, { scriptDir, projectDir }) : values,
    signal: late ? AbortSignal.any([context.signal, late]) : context.signal,
    onLine: (line: string) => {
      coverage = readCoverage?.(line) ?? coverage;
      log.printed(name, line);
    },
    onNote: (text: string) => log.note(name, text),
  };
  // Windows has no such modes.
  if (isInImage && SYSTEM !== 'win32') await runProgram('chmod', ['-R', 'a+rwX', buildsDir]);
  else await chmod(join(scriptDir, 'run'), 0o755);
  const outcome = engine
    ? await runInContainer(toRun, { engine, projectDir, platformUrls: options.platformUrls })
    : await runOnHost(toRun, context.env);
  if (context.signal.aborted) return outcome;
  if (late?.aborted && !outcome.isInTime)
    return {
      exitCode: outcome.exitCode || 1,
      reason: `it exceeded its timeout of ${definition.timeout}`,
      kind: 'job_execution_timeout',
    };
  await keepResults(job, options, inputs, { isSuccess: outcome.exitCode === 0, coverage });
  return outcome;
}

type Inputs = Awaited<ReturnType<typeof bringInputs>>;

/** Makes the folders of a job, with its checkout, artifacts, caches and scripts. */
async function bringInputs(job: PlannedJob, options: JobsOptions, attempt: number, isInImage: boolean) {
  const { definition, name } = job;
  const { folder, checkout, request, cacheDir, tracked } = options;
  const projectPath = options.project.path_with_namespace;
  const buildsDir = join(folder.path, 'jobs', `${folderName(name)}-${attempt}`, 'builds');
  const workDir = join(buildsDir, projectPath);
  const scriptDir = `${workDir}.tmp`;
  const projectDir = isInImage ? projectDirInContainer(projectPath) : workDir;
  await clearArtifacts(options.artifacts, name);
  await mkdir(workDir, { recursive: true });
  await mkdir(scriptDir);
  const jobId = jobNumber(options.runId, name);
  const variablesWith = (dotenv: Readonly<Record<string, string>>) =>
    jobVariables(job, options.variables, { projectDir, dotenv, jobId });
  const before = variablesWith({}).values;
  await bringCheckout(checkout.dir, workDir, before);
  if (checkout.submodules.length > 0)
    await bringSubmodules(request.repository.dir, workDir, before.GIT_SUBMODULE_STRATEGY);
  const dotenv = await dotenvOf(job.artifactsOf, options.artifacts);
  const { values, jobEnvironment } = variablesWith(dotenv);
  const caches = { dir: cacheDir, checkoutDir: checkout.dir, workDir, projectDir, values, tracked };
  // As on a server, artifacts replace files of caches.
  await restoreCaches(definition.cache ?? [], caches);
  await bringArtifacts(job.artifactsOf, workDir, options.artifacts);
  for (const [file, text] of Object.entries(jobScripts(definition, values)))
    await writeFile(join(scriptDir, file), text);
  return {
    buildsDir,
    workDir,
    scriptDir,
    projectDir,
    jobId,
    variablesWith,
    dotenv,
    values,
    place: jobEnvironment,
    caches,
  };
}

/** All variables of a job, and its environment. `projectDir` is where it works. */
export function jobVariables(
  job: PlannedJob,
  run: RunVariables,
  { projectDir, dotenv, jobId }: { projectDir: string; dotenv: Readonly<Record<string, string>>; jobId: number },
): { values: Record<string, string>; jobEnvironment: JobEnvironment | undefined } {
  const { environment, image } = job.definition;
  const ofJob = {
    ...identityOf({ ...job, name: job.ownName ?? job.name }),
    CI_JOB_ID: String(jobId),
    CI_JOB_STATUS: 'running',
    CI_JOB_STARTED_AT: new Date().toISOString().replace(/\.\d+/, ''),
    ...(image && { CI_JOB_IMAGE: image.name }),
    CI_JOB_URL: `${run.predefined.CI_PROJECT_URL}/-/jobs/${jobId}`,
    ...(job.when === 'manual' && { CI_JOB_MANUAL: 'true' }),
    CI_PROJECT_DIR: projectDir,
    CI_BUILDS_DIR: projectDir.slice(0, -`/${run.predefined.CI_PROJECT_PATH}`.length),
    CI_CONCURRENT_ID: '0',
    CI_CONCURRENT_PROJECT_ID: '0',
    CI_JOB_TIMEOUT: String((spanMs(job.definition.timeout ?? undefined) ?? DEFAULT_TIMEOUT_MS) / 1_000),
  };
  const written = { ...job.variables, ...asVariables(dotenv) };
  const { values, name } = valuesInEnvironment(run, ofJob, written, environment);
  const { url, action = 'start' } = environment ?? {};
  return { values, jobEnvironment: name === undefined ? undefined : { name, url: url ?? undefined, action } };
}

function noteStart(
  { definition, name, stage }: PlannedJob,
  log: RunLog,
  isInImage: boolean,
  values: Inputs['values'],
): void {
  const image = definition.image ? expandText(definition.image.name, values) : undefined;
  log.note(name, `starting ${isInImage ? image : 'shell'} (${stage})`);
  if (isInImage) return;
  const reason = image === undefined ? ', because it has no image' : ` instead of in ${image}: --shell is set`;
  log.note(name, `runs on this machine${reason}`);
  if ((definition.services ?? []).length > 0) log.note(name, 'runs without its services, which need an image');
}

/** Stores what a job has made: artifacts, reports, caches and the address of its environment. */
async function keepResults(
  job: PlannedJob,
  { log, tracked, artifacts: store, onEnvironment }: JobsOptions,
  { workDir, projectDir, values, caches, place: jobEnvironment, dotenv, variablesWith }: Inputs,
  { isSuccess, coverage }: { isSuccess: boolean; coverage: number | undefined },
): Promise<void> {
  const { name, definition } = job;
  const note = (text: string) => log.note(name, text);
  const collected = await uploadArtifacts(job, { workDir, projectDir, values, isSuccess, store, tracked, note });
  log.change(name, { ...collected.results, ...(coverage !== undefined && { coverage }) });
  for (const text of await saveCaches(definition.cache ?? [], caches, isSuccess)) note(text);
  if (collected.fault !== undefined && isSuccess) throw new Error(collected.fault);
  if (!isSuccess || !jobEnvironment) return;
  // What it has just reported may be part of the address.
  const reported = await dotenvOf([name], store);
  const { values: finalValues } = variablesWith({ ...dotenv, ...reported });
  await onEnvironment(jobEnvironment, jobEnvironment.url && expandText(jobEnvironment.url, finalValues), true);
}

/** Copies the variables that are files to what a container gets, and changes the paths in the values. */
async function bringFiles(
  values: Readonly<Record<string, string>>,
  filesDir: string,
  { scriptDir, projectDir }: { scriptDir: string; projectDir: string },
): Promise<Record<string, string>> {
  await cp(filesDir, join(scriptDir, 'files'), { recursive: true });
  const inContainer = `${projectDir}.tmp/files`;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replaceAll(filesDir, inContainer)]),
  );
}

/** Gives a job its copy of the checkout, as its variables GIT_STRATEGY and GIT_DEPTH say. */
async function bringCheckout(
  from: string,
  to: string,
  { GIT_STRATEGY: strategy, GIT_DEPTH: depth = '' }: Readonly<Record<string, string>>,
): Promise<void> {
  if (strategy === 'none' || strategy === 'empty') return;
  await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  if (/^[1-9]\d{0,8}$/.test(depth))
    await git(to, ['fetch', '--quiet', '--no-tags', '--depth', depth, `file://${from}`, 'HEAD']);
}

/** Returns why a job with an image does not run. */
export const withoutEngine = ({ absence }: { absence: string }) =>
  `it has an image, but ${absence.replace(/\.$/, '')}. To run the jobs directly on this machine, use --shell.`;

/** Checks out submodules as GIT_SUBMODULE_STRATEGY says, from their copies in the repository if it has any. */
async function bringSubmodules(repositoryDir: string, to: string, strategy: string | undefined): Promise<void> {
  if (strategy !== 'normal' && strategy !== 'recursive') return;
  const query = ['--name-only', '--get-regexp', '^submodule\\..*\\.path$'];
  const listed = await git(to, ['config', '--file', '.gitmodules', ...query]);
  const local = await Promise.all(
    listed.split('\n').map(async (key) => {
      const name = key.slice('submodule.'.length, -'.path'.length);
      const copy = await git(repositoryDir, ['rev-parse', '--path-format=absolute', '--git-path', `modules/${name}`]);
      return existsSync(copy) ? ['-c', `submodule.${name}.url=${copy}`] : [];
    }),
  );
  const more = strategy === 'recursive' ? ['--recursive'] : [];
  const update = ['submodule', '--quiet', 'update', '--init', ...more];
  await git(to, ['-c', 'protocol.file.allow=always', ...local.flat(), ...update], { timeoutMs: 0 }).catch((failure) => {
    throw new Error(`its submodules could not be checked out: ${failure.message}`);
  });
}

function isAllowed(allowed: AllowFailure, exitCode: number | undefined): boolean {
  if (typeof allowed === 'boolean') return allowed;
  return exitCode !== undefined && allowed.exitCodes.includes(exitCode);
}
