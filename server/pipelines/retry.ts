import { deliveryRows } from '../contract/delivery.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PipelineRequest } from './pipeline-request.ts';
import type { PlatformCalls } from './platform-calls.ts';
import { commitOf, type Repository, readRepository } from './repository.ts';
import { SOURCES } from './rules.ts';
import { withSampleRepository } from './sample-repository.ts';

/** What a job is run again with: the commit of its run. */
export interface PipelineRetry {
  repository: Repository;
  asked: Pick<PipelineRequest, 'project' | 'source' | 'only' | 'retryOf' | 'isKept' | 'takesWorkingTree'>;
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
  const run = await platform.ask(deliveryRows.readPipelineRun, { path: { pipeline_id: id } });
  if (!run.jobs.some(({ name }) => name === job))
    throw new PipelineError(`run ${id} has no job '${job}': it has ${run.jobs.map(({ name }) => name).join(', ')}`);
  if (run.state === 'running') throw new PipelineError(`run ${id} goes on: run its jobs again when it has ended`);
  const source = SOURCES.find((one) => one === run.source);
  const retryOf = { project: run.project.path, source, only: [job], retryOf: id };
  if (run.folder === undefined) {
    return withSampleRepository(sampleDir, run.branch, (repository) =>
      work({ repository, asked: { ...retryOf, isKept: false, takesWorkingTree: false } }),
    );
  }
  if (run.hasWorkingTree)
    throw new PipelineError(
      `run ${id} was one of a working tree, which is not kept: run the pipeline again with --working-tree`,
    );
  const { folder: dir, branch, sha } = run;
  if ((await commitOf(dir, sha)) === undefined)
    throw new PipelineError(
      `commit ${sha.slice(0, 8)} of run ${id} is not in ${dir} any more: run the pipeline of its branch again`,
    );
  // The branch may have gone on, or be gone.
  const repository = await readRepository(dir, undefined).catch(() => undefined);
  return work({
    repository: { dir, branch, sha, title: branch, originPath: repository?.originPath, uncommitted: 0 },
    asked: { ...retryOf, isKept: true, takesWorkingTree: false },
  });
}
