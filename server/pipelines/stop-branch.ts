import { z } from 'zod';
import { PipelineError } from './pipeline-error.ts';
import type { PlatformCalls } from './platform-calls.ts';
import { refSlug } from './predefined.ts';
import { ScmClient } from './scm-client.ts';
import { makePipelineKey } from './target.ts';

const TIMEOUT_MS = 60_000;

const runsSchema = z.array(
  z.looseObject({
    project: z.looseObject({ id: z.int(), path: z.string() }),
    branch: z.string(),
    deployments: z
      .array(
        z.looseObject({
          action: z.string().optional(),
          container: z.looseObject({ id: z.string(), name: z.string() }).optional(),
          published: z.looseObject({ id: z.string() }).optional(),
        }),
      )
      .optional(),
  }),
);
const scmSchema = z.looseObject({ apiUrl: z.string(), token: z.string() });

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
  const runs = (await platform.json('GET', '/inspect/pipelines', runsSchema)).filter(
    (one) => one.branch === branch && (path === undefined || one.project.path === path),
  );
  const [newest] = runs;
  if (!newest)
    throw new PipelineError(
      `no run of a pipeline of '${branch}'${path ? ` in ${path}` : ''} is known here: look for its name in the window`,
    );
  const deployed = runs
    .flatMap(({ deployments = [] }) => deployments)
    .find(({ container, action }) => container && action !== 'stop');
  const key = await makePipelineKey(platform, account);
  let container: string | null = null;
  try {
    // As the pipeline's account, which may do no more than its jobs.
    const as = (method: string, url: string) => callAs(platform.baseUrl, key, method, url);
    if (deployed?.published) await as('DELETE', `/meta/root/apiendpoints/${deployed.published.id}`);
    if (deployed?.container && (await as('DELETE', `/meta/root/containers/${deployed.container.id}`)))
      container = deployed.container.name;
  } finally {
    await key.end();
  }
  const { apiUrl, token } = await platform.json('GET', '/inspect/scm', scmSchema);
  const scm = new ScmClient(apiUrl, token);
  const project = await scm.findProject(newest.project.path);
  const environments: string[] = [];
  if (project) {
    for (const name of [`review/${branch}`, `review-${branch}`, `review/${refSlug(branch)}`]) {
      const one = await scm.environment(project, name);
      if (one?.state !== 'available' || environments.includes(name)) continue;
      await scm.stopEnvironment(project, one);
      environments.push(name);
    }
    const open = await scm.findMergeRequest(project, branch);
    if (open) await scm.closeMergeRequest(project, open.iid);
  }
  return { branch, project: newest.project.path, container, environments };
}

/** False for what is gone already. */
async function callAs(
  baseUrl: string,
  { key, secret }: { key: string; secret: string },
  method: string,
  path: string,
): Promise<boolean> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { Authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return true;
  if (response.status === 404) return false;
  const said = z.looseObject({ message: z.string().optional() }).safeParse(await response.json().catch(() => ({})));
  throw new PipelineError(`${method} ${path} was refused: ${said.data?.message ?? response.status}`, 1);
}
