import { createReadStream } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { PassThrough } from 'node:stream';
import yazl from 'yazl';
import { reasonOf } from '../../model/errors.ts';
import { hasEnded, type PipelineJob } from '../../model/pipeline-run.ts';
import { notFound, ScmError } from './scm-error.ts';
import { jobNumber, type ListedRun, pipelineNumber, traceOf } from './scm-pipelines.ts';
import { Raw, type Routes, type ScmParts, type ScmRequest } from './scm-request.ts';

const PIPELINES = '/projects/:project/pipelines';
const JOBS = '/projects/:project/jobs';
/** Reports that later jobs read; they are not part of the archive. */
const DOTENV_FOLDER = '.terrarium-dotenv';

interface JobOfRun {
  run: ListedRun;
  job: PipelineJob;
}

export function pipelineRoutes(options: ScmParts): Routes {
  const runs = new ProjectRuns(options);
  return { ...runRoutes(runs, options), ...jobRoutes(runs, options), ...artifactRoutes(runs, options) };
}

/** Finds the runs and jobs of requests, and begins and ends runs. */
class ProjectRuns {
  readonly #options: ScmParts;

  constructor(options: ScmParts) {
    this.#options = options;
  }

  list(request: ScmRequest): readonly ListedRun[] {
    return this.#options.pipelines().list(request.project.id);
  }

  runOf(request: ScmRequest): ListedRun {
    return this.#where(request, (run) => String(pipelineNumber(run)) === request.param('pipeline'));
  }

  jobOf(request: ScmRequest): JobOfRun {
    return this.job(request, ({ id }, { name }) => String(jobNumber(id, name)) === request.param('job'));
  }

  /** The newest job of which that is true. */
  job(request: ScmRequest, matches: (run: ListedRun, job: PipelineJob) => boolean): JobOfRun {
    for (const run of this.list(request)) {
      const job = run.jobs.find((candidate) => matches(run, candidate));
      if (job) return { run, job };
    }
    throw notFound('Job');
  }

  wholePipeline(run: ListedRun) {
    const { pipelines, views } = this.#options;
    const isInvalid = run.state === 'failed' && run.jobs.length === 0;
    const problem = isInvalid ? pipelines().logOf(run).join('\n') : null;
    return { ...views.pipeline(run), yaml_errors: problem };
  }

  cancel(run: ListedRun): void {
    if (run.state === 'running' && !this.#options.pipelines().cancel(run))
      throw new ScmError(409, { message: 'A command runs this pipeline. Stop that command.' });
  }

  async retry(request: ScmRequest) {
    const { pipelines, views } = this.#options;
    const { run, job } = this.jobOf(request);
    const { id } = await pipelines()
      .retry(run, job.name)
      .catch((failure) => {
        throw new ScmError(403, { message: `403 Forbidden - ${reasonOf(failure)}` });
      });
    const again = this.#where(request, (candidate) => candidate.id === id);
    return views.job(again, again.jobs.find(({ name }) => name === job.name) ?? job);
  }

  async start(request: ScmRequest, ref: string, sha: string | undefined) {
    const { pipelines, repositories } = this.#options;
    const { project } = request;
    const isTag = (await repositories.findCommit(project, `refs/heads/${ref}`)) === undefined;
    const found = sha ?? (await repositories.findCommit(project, `refs/${isTag ? 'tags' : 'heads'}/${ref}`));
    if (found === undefined) throw new ScmError(400, { message: { base: ['Reference not found'] } });
    const variables = request.sentVariables();
    const dir = await repositories.dirOf(project);
    const pipelineRequest = { project, dir, ref, isTag, sha: found, source: 'web', variables } as const;
    const { id } = await pipelines()
      .start(pipelineRequest)
      .catch((failure) => {
        throw new ScmError(400, { message: { base: [reasonOf(failure)] } });
      });
    return this.wholePipeline(this.#where(request, (candidate) => candidate.id === id));
  }

  listJobs(request: ScmRequest, pipelineRuns: readonly ListedRun[]) {
    const scopes = request.texts('scope');
    const all = pipelineRuns.flatMap((run) => run.jobs.map((job) => this.#options.views.job(run, job)).reverse());
    return all.filter(({ status }) => scopes.length === 0 || scopes.includes(status));
  }

  #where(request: ScmRequest, matches: (run: ListedRun) => boolean): ListedRun {
    const run = this.list(request).find(matches);
    if (!run) throw notFound('Pipeline');
    return run;
  }
}

function runRoutes(runs: ProjectRuns, { pipelines, views }: ScmParts): Routes {
  return {
    [`GET ${PIPELINES}`]: (request) => {
      const found = runs.list(request).map((run) => views.pipeline(run));
      const names = ['ref', 'sha', 'status', 'source'] as const;
      return found.filter((pipeline) => names.every((name) => request.isAsked(name, String(pipeline[name]))));
    },
    'POST /projects/:project/pipeline': (request) => runs.start(request, request.required('ref').ref, undefined),
    [`GET ${PIPELINES}/latest`](request) {
      const ref = request.query('ref') ?? request.project.default_branch;
      const found = runs.list(request).find(({ branch }) => branch === ref);
      if (!found) throw new ScmError(403, { message: '403 Forbidden' });
      return runs.wholePipeline(found);
    },
    [`GET ${PIPELINES}/:pipeline`]: (request) => runs.wholePipeline(runs.runOf(request)),
    [`GET ${PIPELINES}/:pipeline/variables`]: (request) => runs.runOf(request) && [],
    [`GET ${PIPELINES}/:pipeline/jobs`]: (request) => runs.listJobs(request, [runs.runOf(request)]),
    [`GET ${PIPELINES}/:pipeline/bridges`]: (request) => runs.runOf(request) && [],
    // The commit again, as a pipeline of its own.
    [`POST ${PIPELINES}/:pipeline/retry`](request) {
      const { branch, sha } = runs.runOf(request);
      return runs.start(request, branch, sha);
    },
    [`POST ${PIPELINES}/:pipeline/cancel`](request) {
      runs.cancel(runs.runOf(request));
      return runs.wholePipeline(runs.runOf(request));
    },
    async [`DELETE ${PIPELINES}/:pipeline`](request) {
      const run = runs.runOf(request);
      if (run.state === 'running')
        throw new ScmError(403, { message: '403 Forbidden - the pipeline is running. Cancel it first.' });
      await pipelines().remove(run);
      return {};
    },
  };
}

function jobRoutes(runs: ProjectRuns, { pipelines, views }: ScmParts): Routes {
  return {
    [`GET ${JOBS}`]: (request) => runs.listJobs(request, runs.list(request)),
    [`GET ${JOBS}/:job`](request) {
      const { run, job } = runs.jobOf(request);
      return views.job(run, job);
    },
    [`GET ${JOBS}/:job/trace`](request) {
      const { run, job } = runs.jobOf(request);
      return new Raw('text/plain; charset=utf-8', traceOf(job, pipelines().logOf(run)));
    },
    [`POST ${JOBS}/:job/retry`]: (request) => runs.retry(request),
    [`POST ${JOBS}/:job/play`](request) {
      if (['manual', 'skipped'].includes(runs.jobOf(request).job.state)) return runs.retry(request);
      throw new ScmError(400, { message: '400 Bad request - Unplayable Job' });
    },
    [`POST ${JOBS}/:job/cancel`](request) {
      const { run, job } = runs.jobOf(request);
      if (hasEnded(job)) throw new ScmError(403, { message: '403 Forbidden - Job is not cancelable' });
      runs.cancel(run);
      return views.job(run, job);
    },
  };
}

function artifactRoutes(runs: ProjectRuns, { pipelines }: ScmParts): Routes {
  const folderOf = async ({ run, job }: JobOfRun): Promise<string> => {
    const dir = await pipelines().artifactsOf(run, job.name);
    const real = dir === undefined ? undefined : await realpath(dir).catch(() => undefined);
    if (real === undefined) throw new ScmError(404, { message: '404 Not Found' });
    return real;
  };
  const newest = (request: ScmRequest): JobOfRun => {
    const { job: jobName } = request.required('job');
    const ref = request.param('ref');
    return runs.job(request, (run, { name }) => name === jobName && run.branch === ref && run.state === 'success');
  };
  const archive = async (job: JobOfRun) => archiveOf(await folderOf(job));
  const file = async (job: JobOfRun, path: string) => fileIn(await folderOf(job), path);
  return {
    [`GET ${JOBS}/:job/artifacts`]: (request) => archive(runs.jobOf(request)),
    [`GET ${JOBS}/:job/artifacts/*path`]: (request) => file(runs.jobOf(request), request.path('path')),
    [`GET ${JOBS}/artifacts/:ref/download`]: (request) => archive(newest(request)),
    [`GET ${JOBS}/artifacts/:ref/raw/*path`]: (request) => file(newest(request), request.path('path')),
  };
}

async function archiveOf(dir: string): Promise<Raw> {
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

async function fileIn(dir: string, path: string): Promise<Raw> {
  const file = await realpath(join(dir, path)).catch(() => undefined);
  // Not by a link that leads elsewhere.
  if (file === undefined || !file.startsWith(`${dir}${sep}`) || !(await lstat(file)).isFile()) throw notFound('File');
  return new Raw('application/octet-stream', createReadStream(file), path.slice(path.lastIndexOf('/') + 1));
}
