import { createReadStream } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { PassThrough } from 'node:stream';
import yazl from 'yazl';
import { reasonOf } from '../../model/errors.ts';
import { hasEnded, type PipelineJob } from '../../model/pipeline-run.ts';
import { jobNumber, pipelineNumber } from './pipeline-number.ts';
import { notFound, ScmError } from './scm-error.ts';
import { type ListedRun, traceOf } from './scm-pipelines.ts';
import { Listed, Raw, type Routes, type ScmRequest, type ScmRoutesOptions } from './scm-request.ts';

const PIPELINES = '/projects/:project/pipelines';
const JOBS = '/projects/:project/jobs';
/** Reports that later jobs read; they are not part of the archive. */
const DOTENV_FOLDER = '.terrarium-dotenv';

interface JobOfRun {
  run: ListedRun;
  job: PipelineJob;
}

/** Pipelines, jobs, their logs and artifacts. */
export function pipelineRoutes({ pipelines, repositories, views }: ScmRoutesOptions): Routes {
  const runs = (request: ScmRequest) => pipelines().list(request.project.id);
  const runWhere = (request: ScmRequest, isMeant: (run: ListedRun) => boolean) => {
    const run = runs(request).find(isMeant);
    if (!run) throw notFound('Pipeline');
    return run;
  };
  const runOf = (request: ScmRequest) =>
    runWhere(request, (run) => String(pipelineNumber(run)) === request.param('pipeline'));
  const jobOf = (request: ScmRequest): JobOfRun => {
    for (const run of runs(request)) {
      const job = run.jobs.find(({ name }) => String(jobNumber(run.id, name)) === request.param('job'));
      if (job) return { run, job };
    }
    throw notFound('Job');
  };
  const whole = (run: ListedRun) => {
    const isInvalid = run.state === 'failed' && run.jobs.length === 0;
    const problem = isInvalid ? pipelines().logOf(run).join('\n') : null;
    return { ...views.pipeline(run), yaml_errors: problem };
  };
  const cancel = (run: ListedRun) => {
    if (run.state === 'running' && !pipelines().cancel(run))
      throw new ScmError(409, { message: 'A command runs this pipeline. Stop that command.' });
  };
  const retried = async (request: ScmRequest) => {
    const { run, job } = jobOf(request);
    const { id } = await pipelines()
      .retry(run, job.name)
      .catch((failure) => {
        throw new ScmError(403, { message: `403 Forbidden - ${reasonOf(failure)}` });
      });
    const again = runWhere(request, (one) => one.id === id);
    return views.job(again, again.jobs.find(({ name }) => name === job.name) ?? job);
  };
  const started = async (request: ScmRequest, ref: string, sha: string | undefined) => {
    const { project } = request;
    const isTag = (await repositories.findCommit(project, `refs/heads/${ref}`)) === undefined;
    const found = sha ?? (await repositories.findCommit(project, `refs/${isTag ? 'tags' : 'heads'}/${ref}`));
    if (found === undefined) throw new ScmError(400, { message: { base: ['Reference not found'] } });
    const variables = request.sentVariables();
    const dir = await repositories.dirOf(project);
    const asked = { project, dir, ref, isTag, sha: found, source: 'web', variables } as const;
    const { id } = await pipelines()
      .start(asked)
      .catch((failure) => {
        throw new ScmError(400, { message: { base: [reasonOf(failure)] } });
      });
    return whole(runWhere(request, (one) => one.id === id));
  };
  const listJobs = (request: ScmRequest, of: readonly ListedRun[]) => {
    const scopes = request.texts('scope');
    const all = of.flatMap((run) => run.jobs.map((job) => views.job(run, job)).reverse());
    return new Listed(all.filter(({ status }) => scopes.length === 0 || scopes.includes(status)));
  };
  return {
    [`GET ${PIPELINES}`]: (request) => {
      const found = runs(request).map((run) => views.pipeline(run));
      const isWanted = (one: (typeof found)[number]) =>
        (['ref', 'sha', 'status', 'source'] as const).every((name) => request.isAsked(name, String(one[name])));
      return new Listed(found.filter(isWanted));
    },
    'POST /projects/:project/pipeline': (request) => started(request, request.required('ref').ref, undefined),
    [`GET ${PIPELINES}/latest`](request) {
      const ref = request.query('ref') ?? request.project.default_branch;
      const found = runs(request).find(({ branch }) => branch === ref);
      if (!found) throw new ScmError(403, { message: '403 Forbidden' });
      return whole(found);
    },
    [`GET ${PIPELINES}/:pipeline`]: (request) => whole(runOf(request)),
    [`GET ${PIPELINES}/:pipeline/variables`]: (request) => runOf(request) && new Listed([]),
    [`GET ${PIPELINES}/:pipeline/jobs`]: (request) => listJobs(request, [runOf(request)]),
    [`GET ${PIPELINES}/:pipeline/bridges`]: (request) => runOf(request) && new Listed([]),
    // The commit again, as a pipeline of its own.
    [`POST ${PIPELINES}/:pipeline/retry`]: (request) => started(request, runOf(request).branch, runOf(request).sha),
    [`POST ${PIPELINES}/:pipeline/cancel`](request) {
      cancel(runOf(request));
      return whole(runOf(request));
    },
    async [`DELETE ${PIPELINES}/:pipeline`](request) {
      const run = runOf(request);
      if (run.state === 'running')
        throw new ScmError(403, { message: '403 Forbidden - the pipeline is running. Cancel it first.' });
      await pipelines().remove(run);
      return undefined;
    },
    [`GET ${JOBS}`]: (request) => listJobs(request, runs(request)),
    [`GET ${JOBS}/:job`](request) {
      const { run, job } = jobOf(request);
      return views.job(run, job);
    },
    [`GET ${JOBS}/:job/trace`](request) {
      const { run, job } = jobOf(request);
      return new Raw('text/plain; charset=utf-8', traceOf(job, pipelines().logOf(run)));
    },
    [`POST ${JOBS}/:job/retry`]: retried,
    [`POST ${JOBS}/:job/play`](request) {
      if (jobOf(request).job.state === 'skipped') return retried(request);
      throw new ScmError(400, { message: '400 Bad request - Unplayable Job' });
    },
    [`POST ${JOBS}/:job/cancel`](request) {
      const { run, job } = jobOf(request);
      if (hasEnded(job)) throw new ScmError(403, { message: '403 Forbidden - Job is not cancelable' });
      cancel(run);
      return views.job(run, job);
    },
    [`GET ${JOBS}/:job/artifacts`]: (request) => archiveOf(jobOf(request)),
    [`GET ${JOBS}/:job/artifacts/*path`]: (request) => fileOf(jobOf(request), request.path('path')),
    [`GET ${JOBS}/artifacts/:ref/download`]: (request) => archiveOf(newest(request)),
    [`GET ${JOBS}/artifacts/:ref/raw/*path`]: (request) => fileOf(newest(request), request.path('path')),
  };

  /** The newest successful run of a branch with a job of that name. */
  function newest(request: ScmRequest): JobOfRun {
    const { job: name } = request.required('job');
    for (const run of runs(request)) {
      if (run.branch !== request.param('ref') || run.state !== 'success') continue;
      const job = run.jobs.find((one) => one.name === name);
      if (job) return { run, job };
    }
    throw notFound('Job');
  }

  async function folderOf({ run, job }: JobOfRun): Promise<string> {
    const dir = pipelines().artifactsOf(run, job.name);
    const real = dir === undefined ? undefined : await realpath(dir).catch(() => undefined);
    if (real === undefined) throw new ScmError(404, { message: '404 Not Found' });
    return real;
  }

  async function archiveOf(job: JobOfRun): Promise<Raw> {
    const dir = await folderOf(job);
    const zip = new yazl.ZipFile();
    const found = await readdir(dir, { recursive: true, withFileTypes: true });
    for (const entry of found) {
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(dir.length + 1).replaceAll(sep, '/');
      if (entry.isFile() && !name.startsWith(`${DOTENV_FOLDER}/`)) zip.addFile(path, name);
    }
    zip.end();
    return new Raw('application/zip', zip.outputStream.pipe(new PassThrough()), 'artifacts.zip');
  }

  async function fileOf(job: JobOfRun, path: string): Promise<Raw> {
    const dir = await folderOf(job);
    const file = await realpath(join(dir, path)).catch(() => undefined);
    // Not by a link that leads elsewhere.
    if (file === undefined || !file.startsWith(`${dir}${sep}`) || !(await lstat(file)).isFile()) throw notFound('File');
    return new Raw('application/octet-stream', createReadStream(file), path.slice(path.lastIndexOf('/') + 1));
  }
}
