import { deliveryRoutes } from '../../api/routes/delivery.ts';
import { storedVariables } from './artifacts.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PipelineRequest } from './pipeline-request.ts';
import type { PlatformCalls } from './platform-calls.ts';
import { commitOf, findRef, type Repository, readRepository } from './repository.ts';
import { SOURCES } from './rules.ts';
import { withSampleRepository } from './sample-repository.ts';
import { scmOf } from './scm-client.ts';

export interface PipelineRetry {
  repository: Repository;
  request: Pick<
    PipelineRequest,
    'project' | 'source' | 'only' | 'retryOf' | 'isKept' | 'isPushed' | 'beforeSha' | 'takesWorkingTree' | 'typed'
  >;
}

/**
 * Finds what is needed to run a job of an earlier run again, and works with it.
 *
 * @throws PipelineError when the run goes on, has no such job, or its commit is not there any more
 */
export async function retryRequest<T>(
  platform: PlatformCalls,
  { id, job, sampleDir }: { id: string; job: string; sampleDir: string },
  work: (retry: PipelineRetry) => Promise<T>,
): Promise<T> {
  const run = await platform.ask(deliveryRoutes.readPipelineRun, { path: { pipeline_id: id } });
  if (!run.jobs.some(({ name }) => name === job))
    throw new PipelineError(`run ${id} has no job '${job}'. Its jobs: ${run.jobs.map(({ name }) => name).join(', ')}`);
  if (run.state === 'running') throw new PipelineError(`run ${id} is still running. Retry its jobs when it has ended.`);
  const source = SOURCES.find((candidate) => candidate === run.source);
  const { scmUrl } = await scmOf(platform);
  const typed = await storedVariables(`${scmUrl}/${run.project.path}`, id);
  const retryOf = { project: run.project.path, source, only: [job], retryOf: id, typed };
  if (run.folder === undefined) {
    return withSampleRepository(sampleDir, run.branch, (repository) =>
      work({ repository, request: { ...retryOf, isKept: false, takesWorkingTree: false } }),
    );
  }
  if (run.hasWorkingTree)
    throw new PipelineError(
      `run ${id} was of a working tree, which is not stored. Run the pipeline again with --working-tree.`,
    );
  const { folder: dir, branch, sha, beforeSha } = run;
  const push = beforeSha !== undefined && { isPushed: true as const, beforeSha };
  if ((await commitOf(dir, sha)) === undefined)
    throw new PipelineError(
      `commit ${sha.slice(0, 8)} of run ${id} no longer exists in ${dir}. Run the pipeline of its branch again.`,
    );
  // The branch may have new commits, or be deleted.
  const repository = await readRepository(dir, undefined).catch(() => undefined);
  return work({
    repository: {
      ...(await findRef(dir, branch)),
      dir,
      branch,
      sha,
      defaultBranch: repository?.defaultBranch ?? 'main',
      originPath: repository?.originPath,
      uncommitted: 0,
    },
    request: { ...retryOf, ...push, isKept: true, takesWorkingTree: false },
  });
}
