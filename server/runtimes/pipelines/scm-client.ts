import { z } from 'zod';
import { jsonBody, type RefusedCall, RowClient } from '../../api/client/route-client.ts';
import { deliveryRoutes } from '../../api/routes/delivery.ts';
import { PipelineError } from './pipeline-error.ts';
import { type PlatformCalls, unlessMissing } from './platform-calls.ts';

const PAGE_SIZE = 100;
const TIMEOUT_MS = 60_000;

const project = z.looseObject({
  id: z.int(),
  name: z.string(),
  path_with_namespace: z.string(),
  default_branch: z.string(),
  web_url: z.string(),
});
const mergeRequest = z.looseObject({
  id: z.int(),
  iid: z.int(),
  title: z.string(),
  target_branch: z.string(),
  web_url: z.string(),
});
const environment = z.looseObject({
  id: z.int(),
  name: z.string(),
  state: z.string(),
  external_url: z.string().nullable(),
});
export type ScmEnvironmentRecord = z.output<typeof environment>;
const variable = z.looseObject({
  key: z.string(),
  value: z.string(),
  variable_type: z.string(),
  protected: z.boolean(),
  masked: z.boolean(),
  raw: z.boolean(),
  environment_scope: z.string(),
});

export type ScmProjectRecord = z.output<typeof project>;
export type ScmMergeRequestRecord = z.output<typeof mergeRequest>;
/** A variable, and how far its group or project is from the outermost group. */
export type ScmVariableRecord = z.output<typeof variable> & { level: number };

/** Speaks to a source-control server as an integration does. */
export class ScmClient extends RowClient {
  /** @param apiUrl base of the projects' API, as `SCM_API_URL` */
  constructor(apiUrl: string, token: string) {
    super(apiUrl, () => undefined, { timeoutMs: TIMEOUT_MS, headers: { 'PRIVATE-TOKEN': token } });
  }

  protected refused({ method, path, status, text }: RefusedCall): PipelineError {
    const url = `${this.baseUrl}${path}`;
    const message =
      status === 404 ? `the mock GitLab has no ${url}` : `the mock GitLab rejected ${method} ${url}: ${status} ${text}`;
    return Object.assign(new PipelineError(message, 1), { status });
  }

  protected failed(reason: string): PipelineError {
    return new PipelineError(`the mock GitLab at ${reason}`, 1);
  }

  findProject(path: string): Promise<ScmProjectRecord | undefined> {
    return unlessMissing(this.json('GET', `/${encodeURIComponent(path)}`, project));
  }

  /** The project of a path such as `fern-moss/shop`; created with that default branch if it does not exist. */
  async ensureProject(path: string, defaultBranch: string): Promise<ScmProjectRecord> {
    const found = await this.findProject(path);
    if (found) return found;
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const created = { name, path: name, namespace: path.slice(0, slash), default_branch: defaultBranch };
    return this.json('POST', '', project, jsonBody(created));
  }

  createMergeRequest(project: ScmProjectRecord, branch: string, title: string): Promise<ScmMergeRequestRecord> {
    const body = { source_branch: branch, target_branch: project.default_branch, title };
    return this.json('POST', `/${project.id}/merge_requests`, mergeRequest, jsonBody(body));
  }

  /** The open merge request of a branch; undefined if the branch or its project has none. */
  async findMergeRequest({ id }: ScmProjectRecord, branch: string): Promise<ScmMergeRequestRecord | undefined> {
    const query = new URLSearchParams({ source_branch: branch, state: 'opened' });
    return (await unlessMissing(this.json('GET', `/${id}/merge_requests?${query}`, z.array(mergeRequest))))?.[0];
  }

  async addNote({ id }: ScmProjectRecord, iid: number, body: string): Promise<void> {
    await this.text('POST', `/${id}/merge_requests/${iid}/notes`, jsonBody({ body }));
  }

  async closeMergeRequest({ id }: ScmProjectRecord, iid: number): Promise<void> {
    await this.text('PUT', `/${id}/merge_requests/${iid}`, jsonBody({ state_event: 'close' }));
  }

  /** The environment with a name; created if it does not exist, and made available again if it was stopped. */
  async ensureEnvironment(project: ScmProjectRecord, name: string): Promise<ScmEnvironmentRecord> {
    const found = await this.environment(project, name);
    if (found?.state === 'available') return found;
    // A stopped one begins again: where it was is nowhere any more.
    if (found) await unlessMissing(this.text('DELETE', `/${project.id}/environments/${found.id}`));
    return this.json('POST', `/${project.id}/environments`, environment, jsonBody({ name }));
  }

  async setUrl({ id }: ScmProjectRecord, environment: ScmEnvironmentRecord, url: string): Promise<void> {
    await this.text('PUT', `/${id}/environments/${environment.id}`, jsonBody({ external_url: url }));
  }

  async stopEnvironment({ id }: ScmProjectRecord, environment: ScmEnvironmentRecord): Promise<void> {
    await this.text('POST', `/${id}/environments/${environment.id}/stop`, jsonBody({}));
  }

  async environment({ id }: ScmProjectRecord, name: string): Promise<ScmEnvironmentRecord | undefined> {
    const query = new URLSearchParams({ name, per_page: '100' });
    return (await this.json('GET', `/${id}/environments?${query}`, z.array(environment)))[0];
  }

  /**
   * Returns the variables of the project's groups from the outermost one, then its own: of several with one key the
   * last one counts. A plan's project and groups may not exist.
   */
  async variables({ id, path_with_namespace: path }: ScmProjectRecord): Promise<ScmVariableRecord[]> {
    const groups = path.split('/').slice(0, -1);
    const owners = groups.map((_, index) => `/../groups/${encodeURIComponent(groups.slice(0, index + 1).join('/'))}`);
    const all: ScmVariableRecord[] = [];
    for (const [level, owner] of [...owners, `/${id}`].entries()) {
      for (let page = 1, isLast = false; !isLast; page += 1) {
        const query = `variables?per_page=${PAGE_SIZE}&page=${page}`;
        const found = (await unlessMissing(this.json('GET', `${owner}/${query}`, z.array(variable)))) ?? [];
        all.push(...found.map((variable) => ({ ...variable, level })));
        isLast = found.length < PAGE_SIZE;
      }
    }
    return all;
  }
}

/** The mock GitLab of a platform; throws PipelineError without permission. */
export async function scmOf(platform: PlatformCalls): Promise<{ scmUrl: string; token: string; scm: ScmClient }> {
  const { url: scmUrl, apiUrl, token } = await platform.ask(deliveryRoutes.readScm);
  if (token === undefined) throw new PipelineError('pipelines require the root user. Use an API key of root.');
  return { scmUrl, token, scm: new ScmClient(apiUrl, token) };
}
