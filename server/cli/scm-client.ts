import { z } from 'zod';
import { ExitWith, NO } from './exit-with.ts';

const TIMEOUT_MS = 10_000;

const project = z.looseObject({
  id: z.int(),
  name: z.string(),
  path_with_namespace: z.string(),
  default_branch: z.string(),
  web_url: z.string(),
});
const mergeRequest = z.looseObject({ iid: z.int(), web_url: z.string() });
const environment = z.looseObject({ id: z.int(), name: z.string(), external_url: z.string().nullable() });
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

  /** The project of a path such as `fern-moss/shop`; made when there is none. */
  async ensureProject(path: string): Promise<ScmProjectRecord> {
    const found = await this.#call('GET', `/${encodeURIComponent(path)}`, project);
    if (found) return found;
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    return this.#demand('POST', '', project, { name, path: name, namespace: path.slice(0, slash) });
  }

  /** The open merge request of a branch; made when there is none. */
  async ensureMergeRequest(
    { id, default_branch }: ScmProjectRecord,
    branch: string,
    title: string,
  ): Promise<ScmMergeRequestRecord> {
    const query = new URLSearchParams({ source_branch: branch, state: 'opened' });
    const [open] = await this.#demand('GET', `/${id}/merge_requests?${query}`, z.array(mergeRequest));
    if (open) return open;
    const wish = { source_branch: branch, target_branch: default_branch, title };
    return this.#demand('POST', `/${id}/merge_requests`, mergeRequest, wish);
  }

  /** The environment in which a branch is looked at; made when there is none. */
  async ensureReviewEnvironment({ id }: ScmProjectRecord, branch: string): Promise<void> {
    if (await this.#reviewEnvironment(id, branch)) return;
    await this.#demand('POST', `/${id}/environments`, environment, { name: `review/${branch}` });
  }

  /** Where the branch's app is, once that was told. */
  async appUrl({ id }: ScmProjectRecord, branch: string): Promise<string | undefined> {
    return (await this.#reviewEnvironment(id, branch))?.external_url || undefined;
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

  async #reviewEnvironment(id: number, branch: string) {
    const all = await this.#demand('GET', `/${id}/environments?per_page=100`, z.array(environment));
    return all.find(({ name }) => name === `review/${branch}` || name === `review-${branch}`);
  }

  async #demand<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const answer = await this.#call(method, path, schema, body);
    if (answer !== undefined) return answer;
    throw new ExitWith(NO, `the source-control server knows nothing at ${this.#apiUrl}${path}`);
  }

  /** Undefined for what is not there. */
  async #call<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T | undefined> {
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
      throw new ExitWith(
        NO,
        `the source-control server at ${url} does not answer: ${failure instanceof Error ? failure.message : failure}`,
      );
    }
    if (response.status === 404) return undefined;
    const text = await response.text();
    if (!response.ok)
      throw new ExitWith(NO, `the source-control server refused ${method} ${url}: ${response.status} ${text}`);
    return schema.parse(JSON.parse(text));
  }
}
