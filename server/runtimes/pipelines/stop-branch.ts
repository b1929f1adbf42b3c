import { deliveryRoutes } from '../../api/routes/delivery.ts';
import { PipelineError } from './pipeline-error.ts';
import { KeyPairCalls, type PlatformCalls, unlessMissing } from './platform-calls.ts';
import { refSlug } from './predefined.ts';
import { scmOf } from './scm-client.ts';
import { makePipelineKey } from './target.ts';

/**
 * Takes away what the newest deployment of a branch has made - its endpoint and its container - stops its environments and closes its
 * merge request. The branch itself need not be there any more, nor its repository. Nothing to take away is no error.
 *
 * @throws PipelineError for a branch that no run is known of
 */
export async function stopBranch(
  platform: PlatformCalls,
  { branch, project: path, account }: { branch: string; project: string | undefined; account: string },
): Promise<{ branch: string; project: string; container: string | null; environments: string[] }> {
  const runs = (await platform.ask(deliveryRoutes.listPipelineRuns)).filter(
    (run) => run.branch === branch && (path === undefined || run.project.path === path),
  );
  const [newest] = runs;
  if (!newest)
    throw new PipelineError(
      `no run of a pipeline of '${branch}'${path ? ` in ${path}` : ''} is known. Look for its app in the window`,
    );
  const deployed = runs
    .flatMap(({ deployments = [] }) => deployments)
    .find(({ container, action }) => container && action !== 'stop');
  const key = await makePipelineKey(platform, account);
  let container: string | null = null;
  try {
    // As the pipeline's account, which may do no more than its jobs.
    const calls = new KeyPairCalls(platform.baseUrl, key);
    if (deployed?.published) await isTaken(calls, `/meta/root/apiendpoints/${deployed.published.id}`);
    if (deployed?.container && (await isTaken(calls, `/meta/root/containers/${deployed.container.id}`)))
      container = deployed.container.name;
  } finally {
    await key.end();
  }
  const { scm } = await scmOf(platform);
  const project = await scm.findProject(newest.project.path);
  const environments: string[] = [];
  if (project) {
    for (const name of [`review/${branch}`, `review-${branch}`, `review/${refSlug(branch)}`]) {
      const environment = await scm.environment(project, name);
      if (environment?.state !== 'available' || environments.includes(name)) continue;
      await scm.stopEnvironment(project, environment);
      environments.push(name);
    }
    const open = await scm.findMergeRequest(project, branch);
    if (open) await scm.closeMergeRequest(project, open.iid);
  }
  return { branch, project: newest.project.path, container, environments };
}

/** False if it is already deleted. */
async function isTaken(platform: PlatformCalls, path: string): Promise<boolean> {
  return (await unlessMissing(platform.text('DELETE', path))) !== undefined;
}
