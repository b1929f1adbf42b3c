import { createReadStream } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { PassThrough } from 'node:stream';
import yazl from 'yazl';
import { reasonOf } from '../../model/errors.ts';
import { hasEnded, type PipelineJob } from '../../model/pipeline-run.ts';
import { notFound, ScmError } from './scm-error.ts';
import { DOTENV_FOLDER, jobNumber, type ListedRun, pipelineNumber, traceOf } from './scm-pipelines.ts';
import { type Routes, raw, type ScmParts, type ScmRequest } from './scm-request.ts';

const PIPELINES = '/projects/:project/pipelines';
const JOBS = '/projects/:project/jobs';

interface JobOfRun {
  run: ListedRun;
  job: PipelineJob;
}

export function pipelineRoutes({ pipelines, views, repositories }: ScmParts): Routes {
  const list = ({ project }: ScmRequest) => pipelines().list(project.id);
  const findRun = (request: ScmRequest, matches: (run: ListedRun) => boolean): ListedRun => {
    const run = list(request).find(matches);
    if (!run) throw notFound('Pipeline');
    return run;
  };
  const runOf = (request: ScmRequest) =>
    findRun(request, (run) => String(pipelineNumber(run)) === request.param('pipeline'));
  /** The newest job of which that is true. */
  const findJob = (request: ScmRequest, matches: (run: ListedRun, job: PipelineJob) => boolean): JobOfRun => {
    for (const run of list(request)) {
      const job = run.jobs.find((candidate) => matches(run, candidate));
      if (job) return { run, job };
    }
    throw notFound('Job');
  };
  const jobOf = (request: ScmRequest) =>
    findJob(request, ({ id }, { name }) => String(jobNumber(id, name)) === request.param('job'));
  const wholePipeline = (run: ListedRun) => {
    const isInvalid = run.state === 'failed' && run.jobs.length === 0;
    return { ...views.pipeline(run), yaml_errors: isInvalid ? pipelines().logOf(run).join('\n') : null };
  };
  const jobsOf = (request: ScmRequest, runs: readonly ListedRun[]) => {
    const scopes = request.texts('scope');
    const all = runs.flatMap((run) => run.jobs.map((job) => views.job(run, job)).reverse());
    return all.filter(({ status }) => scopes.length === 0 || scopes.includes(status));
  };
  const start = async (request: ScmRequest, ref: string, requestedSha?: string) => {
    const { project } = request;
    const isTag = (await repositories.findCommit(project, `refs/heads/${ref}`)) === undefined;
    const sha = requestedSha ?? (await repositories.findCommit(project, `refs/${isTag ? 'tags' : 'heads'}/${ref}`));
    if (sha === undefined) throw new ScmError(400, { message: { base: ['Reference not found'] } });
    const variables = request.sentVariables();
    const dir = await repositories.dirOf(project);
    const { id } = await pipelines()
      .start({ project, dir, ref, isTag, sha, source: 'web', variables })
      .catch((failure) => {
        throw new ScmError(400, { message: { base: [reasonOf(failure)] } });
      });
    return wholePipeline(findRun(request, (candidate) => candidate.id === id));
  };
  const cancel = (run: ListedRun) => {
    if (run.state === 'running' && !pipelines().cancel(run))
      throw new ScmError(409, { message: 'A command runs this pipeline. Stop that command.' });
  };
  const retry = async (request: ScmRequest) => {
    const { run, job } = jobOf(request);
    const { id } = await pipelines()
      .retry(run, job.name)
      .catch((failure) => {
        throw new ScmError(403, { message: `403 Forbidden - ${reasonOf(failure)}` });
      });
    const again = findRun(request, (candidate) => candidate.id === id);
    return views.job(again, again.jobs.find(({ name }) => name === job.name) ?? job);
  };
  const folderOf = async ({ run, job }: JobOfRun): Promise<string> => {
    const dir = await pipelines().artifactsOf(run, job.name);
    const real = dir === undefined ? undefined : await realpath(dir).catch(() => undefined);
    if (real === undefined) throw new ScmError(404, { message: '404 Not Found' });
    return real;
  };
  const newest = (request: ScmRequest): JobOfRun => {
    const { job: jobName } = request.required('job');
    const ref = request.param('ref');
    return findJob(request, (run, { name }) => name === jobName && run.branch === ref && run.state === 'success');
  };
  const archive = async (job: JobOfRun) => archiveOf(await folderOf(job));
  const file = async (job: JobOfRun, path: string) => fileIn(await folderOf(job), path);
  return {
    [`GET ${PIPELINES}`]: (request) => {
      const names = ['ref', 'sha', 'status', 'source'] as const;
      const found = list(request).map((run) => views.pipeline(run));
      return found.filter((pipeline) => names.every((name) => request.isAsked(name, String(pipeline[name]))));
    },
    'POST /projects/:project/pipeline': (request) => start(request, request.required('ref').ref),
    [`GET ${PIPELINES}/latest`](request) {
      const ref = request.text('ref') ?? request.project.default_branch;
      const found = list(request).find(({ branch }) => branch === ref);
      if (!found) throw new ScmError(403, { message: '403 Forbidden' });
      return wholePipeline(found);
    },
    [`GET ${PIPELINES}/:pipeline`]: (request) => wholePipeline(runOf(request)),
    [`GET ${PIPELINES}/:pipeline/variables`]: (request) => runOf(request) && [],
    [`GET ${PIPELINES}/:pipeline/jobs`]: (request) => jobsOf(request, [runOf(request)]),
    [`GET ${PIPELINES}/:pipeline/bridges`]: (request) => runOf(request) && [],
    // The commit again, as a pipeline of its own.
    [`POST ${PIPELINES}/:pipeline/retry`](request) {
      const { branch, sha } = runOf(request);
      return start(request, branch, sha);
    },
    [`POST ${PIPELINES}/:pipeline/cancel`](request) {
      cancel(runOf(request));
      return wholePipeline(runOf(request));
    },
    async [`DELETE ${PIPELINES}/:pipeline`](request) {
      const run = runOf(request);
      if (run.state === 'running')
        throw new ScmError(403, { message: '403 Forbidden - the pipeline is running. Cancel it first.' });
      await pipelines().remove(run);
      return {};
    },
    [`GET ${JOBS}`]: (request) => jobsOf(request, list(request)),
    [`GET ${JOBS}/:job`](request) {
      const { run, job } = jobOf(request);
      return views.job(run, job);
    },
    [`GET ${JOBS}/:job/trace`](request) {
      const { run, job } = jobOf(request);
      return raw('text/plain; charset=utf-8', traceOf(job, pipelines().logOf(run)));
    },
    [`POST ${JOBS}/:job/retry`]: retry,
    [`POST ${JOBS}/:job/play`](request) {
      if (['manual', 'skipped'].includes(jobOf(request).job.state)) return retry(request);
      throw new ScmError(400, { message: '400 Bad request - Unplayable Job' });
    },
    [`POST ${JOBS}/:job/cancel`](request) {
      const { run, job } = jobOf(request);
      if (hasEnded(job)) throw new ScmError(403, { message: '403 Forbidden - Job is not cancelable' });
      cancel(run);
      return views.job(run, job);
    },
    [`GET ${JOBS}/:job/artifacts`]: (request) => archive(jobOf(request)),
    [`GET ${JOBS}/:job/artifacts/*path`]: (request) => file(jobOf(request), request.param('path')),
    [`GET ${JOBS}/artifacts/:ref/download`]: (request) => archive(newest(request)),
    [`GET ${JOBS}/artifacts/:ref/raw/*path`]: (request) => file(newest(request), request.param('path')),
  };
}

async function archiveOf(dir: string) {
  const zip = new yazl.ZipFile();
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  for (const entry of found) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dir.length + 1).replaceAll(sep, '/');
    if (entry.isFile() && !name.startsWith(`${DOTENV_FOLDER}/`)) zip.addFile(path, name);
  }
  zip.end();
  return raw('application/zip', zip.outputStream.pipe(new PassThrough()), 'artifacts.zip');
}

async function fileIn(dir: string, path: string) {
  const file = await realpath(join(dir, path)).catch(() => undefined);
  // Not by a link that leads elsewhere.
  if (file === undefined || !file.startsWith(`${dir}${sep}`) || !(await lstat(file)).isFile()) throw notFound('File');
  return raw('application/octet-stream', createReadStream(file), path.slice(path.lastIndexOf('/') + 1));
}
