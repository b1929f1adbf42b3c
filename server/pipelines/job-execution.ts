import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reasonOf } from '../model/reason.ts';
import {
  type ArtifactStore,
  bringArtifacts,
  bringCaches,
  collectArtifacts,
  folderName,
  keepCaches,
} from './artifacts.ts';
import { projectDirInContainer, runInContainer } from './container-job.ts';
import type { AllowFailure } from './definition.ts';
import type { EngineCommand } from './engine-command.ts';
import { type JobPlace, jobVariables, type RunVariables } from './job-environment.ts';
import { type JobOutcome, runOnHost } from './job-runner.ts';
import { jobScripts } from './job-script.ts';
import { noRoom } from './no-room.ts';
import type { PlannedJob } from './plan.ts';
import { numberOf } from './predefined.ts';
import { duration, type RunLog } from './run-log.ts';
import type { Fate } from './schedule.ts';
import { expandText } from './variables.ts';

export interface JobsOptions {
  /** Of the run; in `jobs` each job has a folder. */
  folder: string;
  /** What each gets a copy of. */
  checkoutDir: string;
  /** Paths in it. */
  tracked: ReadonlySet<string>;
  runId: string;
  projectPath: string;
  variables: RunVariables;
  filesDir: string | undefined;
  /** Where images are run; or why they are not. */
  engine: EngineCommand | { absence: string };
  env: Readonly<Record<string, string | undefined>>;
  artifacts: ArtifactStore;
  cacheDir: string;
  log: RunLog;
  signal: AbortSignal;
  /** Before a job with an environment begins, and when it has done well. */
  onPlace(place: JobPlace, url: string | undefined, isDone: boolean): Promise<void>;
}

/** Runs one job to its end: brings what it needs, runs it here or in its image, and keeps what it leaves. */
export async function runJob(job: PlannedJob, options: JobsOptions): Promise<Fate> {
  const { log, signal } = options;
  const attempts = 1 + (job.definition.retry ?? 0);
  for (let attempt = 1; ; attempt += 1) {
    const startedAtMs = Date.now();
    log.change(job.name, { state: 'running', startedAtMs });
    const { exitCode, reason } = await attemptJob(job, options, attempt).catch((failure): JobOutcome => {
      return { exitCode: 1, reason: noRoom(failure)?.message ?? reasonOf(failure) };
    });
    if (signal.aborted) {
      log.change(job.name, { state: 'canceled', durationMs: Date.now() - startedAtMs });
      log.note(job.name, 'canceled');
      return 'failed';
    }
    if (reason !== undefined) log.note(job.name, `> ${reason}`);
    const mayFail = exitCode !== 0 && isAllowed(job.allowFailure, exitCode);
    const verdict = exitCode === 0 ? '' : `  ${mayFail ? 'WARN' : 'FAIL'} ${exitCode}`;
    log.note(job.name, `finished in ${duration(Date.now() - startedAtMs)}${verdict}`);
    if (exitCode === 0 || attempt >= attempts) {
      log.change(job.name, {
        state: exitCode === 0 ? 'success' : 'failed',
        exitCode,
        durationMs: Date.now() - startedAtMs,
        ...(mayFail && { mayFail }),
      });
      return exitCode === 0 || mayFail ? 'done' : 'failed';
    }
    log.note(job.name, `is tried again: retry ${attempt} of ${attempts - 1}`);
  }
}

async function attemptJob(job: PlannedJob, options: JobsOptions, attempt: number): Promise<JobOutcome> {
  const { log, engine, env } = options;
  const { definition, name } = job;
  if (definition.script === undefined) {
    log.note(name, "starts another pipeline, which is not run here: run that project's by itself");
    return { exitCode: 0 };
  }
  const folder = join(options.folder, 'jobs', `${folderName(name)}-${attempt}`);
  const workDir = join(folder, 'builds', options.projectPath);
  const scriptDir = join(folder, 'script');
  const isInImage = 'program' in engine && definition.image !== null && definition.image !== undefined;
  const projectDir = isInImage ? projectDirInContainer(options.projectPath) : workDir;
  await mkdir(workDir, { recursive: true });
  await mkdir(scriptDir);
  await promisify(execFile)('rsync', ['--archive', `${options.checkoutDir}/`, `${workDir}/`]);
  const dotenv = await bringArtifacts(job.artifactsOf, workDir, options.artifacts);
  const jobId = numberOf(`${options.runId} ${name} ${attempt}`);
  const { values, place } = jobVariables(job, options.variables, { projectDir, dotenv, jobId });
  const caches = { dir: options.cacheDir, workDir, values };
  await bringCaches(definition.cache ?? [], caches);
  for (const [file, text] of Object.entries(jobScripts(definition))) await writeFile(join(scriptDir, file), text);
  if (place) await options.onPlace(place, undefined, false);

  const where = isInImage ? expandText(definition.image?.name ?? '', values) : 'shell';
  log.note(name, `starting ${where} (${job.stage})`);
  if (!isInImage && (definition.image || (definition.services ?? []).length > 0)) {
    const reason = 'absence' in engine ? engine.absence : 'it names services, and no image to run beside them';
    log.note(
      name,
      `runs on this machine${definition.image ? ` instead of in ${expandText(definition.image.name, values)}` : ''}: ${reason}`,
    );
  }
  const limit = limitMs(definition.timeout ?? undefined);
  const late = limit === undefined ? undefined : AbortSignal.timeout(limit);
  const toRun = {
    workDir,
    scriptDir,
    filesDir: options.filesDir,
    image: definition.image ?? undefined,
    services: definition.services ?? [],
    variables: values,
    signal: late ? AbortSignal.any([options.signal, late]) : options.signal,
    onLine: (line: string) => log.printed(name, line),
    onNote: (text: string) => log.note(name, text),
  };
  if (isInImage) await promisify(execFile)('chmod', ['-R', 'a+rwX', workDir, scriptDir]);
  else await chmod(join(scriptDir, 'run'), 0o755);
  const outcome = isInImage ? await runInContainer(toRun, { engine, projectDir }) : await runOnHost(toRun, env);
  if (options.signal.aborted) return outcome;
  if (late?.aborted)
    return { exitCode: outcome.exitCode || 1, reason: `it took longer than its timeout of ${definition.timeout}` };

  const isSuccess = outcome.exitCode === 0;
  const collected = await collectArtifacts(job, {
    workDir,
    values,
    isSuccess,
    store: options.artifacts,
    tracked: options.tracked,
  });
  for (const note of collected) log.note(name, note);
  await keepCaches(definition.cache ?? [], caches, isSuccess);
  if (isSuccess && place) {
    // What it has just reported may be part of the address.
    const reported = await bringArtifacts([name], workDir, options.artifacts);
    const { values: known } = jobVariables(job, options.variables, {
      projectDir,
      dotenv: { ...dotenv, ...reported },
      jobId,
    });
    await options.onPlace(place, place.url && expandText(place.url, known), true);
  }
  return outcome;
}

function isAllowed(allowed: AllowFailure, exitCode: number): boolean {
  return typeof allowed === 'boolean' ? allowed : allowed.exitCodes.includes(exitCode);
}

const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** `1h 30m`, `90 minutes`, `5400` (seconds). */
function limitMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)\s*([dhms])/g))
    sum += Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return sum === 0 ? undefined : sum;
}
