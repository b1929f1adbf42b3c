import { z } from 'zod';
import { reasonOf } from '../model/reason.ts';
import { PipelineError } from './pipeline-error.ts';

const TIMEOUT_MS = 10_000;

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
export type ScmVariableRecord = z.output<typeof variable>;

/** Speaks to a source-control server as an integration does. */
export class ScmClient {
  readonly #apiUrl: string;
  readonly #token: string;

  /** @param apiUrl base of the projects' API, as `SCM_API_URL` */
  constructor(apiUrl: string, token: string) {
    this.#apiUrl = apiUrl;
    this.#token = token;
  }

  findProject(path: string): Promise<ScmProjectRecord | undefined> {
    return this.#call('GET', `/${encodeURIComponent(path)}`, project);
  }

  /** The project of a path such as `fern-moss/shop`; made when there is none. */
  async ensureProject(path: string): Promise<ScmProjectRecord> {
    const found = await this.findProject(path);
    if (found) return found;
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    return this.#demand('POST', '', project, { name, path: name, namespace: path.slice(0, slash) });
  }

  /** The open merge request of a branch; made when there is none. */
  async ensureMergeRequest(project: ScmProjectRecord, branch: string, title: string): Promise<ScmMergeRequestRecord> {
    const open = await this.findMergeRequest(project, branch);
    if (open) return open;
    const { id, default_branch } = project;
    const asked = { source_branch: branch, target_branch: default_branch, title };
    return this.#demand('POST', `/${id}/merge_requests`, mergeRequest, asked);
  }

  /** The open merge request of a branch, if there is one. */
  async findMergeRequest({ id }: ScmProjectRecord, branch: string): Promise<ScmMergeRequestRecord | undefined> {
    const query = new URLSearchParams({ source_branch: branch, state: 'opened' });
    return (await this.#demand('GET', `/${id}/merge_requests?${query}`, z.array(mergeRequest)))[0];
  }

  async closeMergeRequest({ id }: ScmProjectRecord, iid: number): Promise<void> {
    await this.#demand('PUT', `/${id}/merge_requests/${iid}`, mergeRequest, { state_event: 'close' });
  }

  /** The environment of a name; made when there is none, and available again when it was stopped. */
  async ensureEnvironment(project: ScmProjectRecord, name: string): Promise<ScmEnvironmentRecord> {
    const found = await this.environment(project, name);
    if (found?.state === 'available') return found;
    // A stopped one begins anew: where it was is nowhere any more.
    if (found) await this.#send('DELETE', `/${project.id}/environments/${found.id}`);
    return this.#demand('POST', `/${project.id}/environments`, environment, { name });
  }

  async tellUrl({ id }: ScmProjectRecord, one: ScmEnvironmentRecord, url: string): Promise<void> {
    await this.#demand('PUT', `/${id}/environments/${one.id}`, environment, { external_url: url });
  }

  async stopEnvironment({ id }: ScmProjectRecord, one: ScmEnvironmentRecord): Promise<void> {
    await this.#demand('POST', `/${id}/environments/${one.id}/stop`, z.looseObject({}), {});
  }

  async environment({ id }: ScmProjectRecord, name: string): Promise<ScmEnvironmentRecord | undefined> {
    const query = new URLSearchParams({ name, per_page: '100' });
    return (await this.#demand('GET', `/${id}/environments?${query}`, z.array(environment)))[0];
  }

  variables({ id }: ScmProjectRecord): Promise<ScmVariableRecord[]> {
    return this.#demand('GET', `/${id}/variables?per_page=100`, z.array(variable));
  }

  async setStatus(
    { id }: ScmProjectRecord,
    sha: string,
    status: { ref: string; name: string; state: string },
  ): Promise<void> {
    await this.#demand('POST', `/${id}/statuses/${sha}`, z.looseObject({}), status);
  }

  async #demand<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const answer = await this.#call(method, path, schema, body);
    if (answer !== undefined) return answer;
    throw new PipelineError(`the source-control server knows nothing at ${this.#apiUrl}${path}`, 1);
  }

  /** Undefined for what is not there. */
  async #call<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T | undefined> {
    const text = await this.#send(method, path, body);
    return text === undefined ? undefined : schema.parse(JSON.parse(text));
  }

  async #send(method: string, path: string, body?: object): Promise<string | undefined> {
    const url = `${this.#apiUrl}${path}`;
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers: { 'PRIVATE-TOKEN': this.#token, ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (failure) {
      throw new PipelineError(`the source-control server at ${url} does not answer: ${reasonOf(failure)}`, 1);
    }
    if (response.status === 404) return undefined;
    const text = await response.text();
    if (!response.ok)
      throw new PipelineError(`the source-control server refused ${method} ${url}: ${response.status} ${text}`, 1);
    return text;
  }
}
