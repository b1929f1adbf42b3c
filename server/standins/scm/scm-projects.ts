import { heldBytes } from '../../model/held-bytes.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { conflict, full, notFound } from './scm-error.ts';
import {
  pathWithNamespace,
  SCM_USER,
  type ScmEnvironment,
  type ScmMergeRequest,
  type ScmNote,
  type ScmProject,
  slugOf,
} from './scm-state.ts';

/** The demo world's project. */
export const DEMO_PROJECT = { id: 101, name: 'shop', namespace: 'fern-moss' } as const;

/** For all projects together, as memory holds them: a pipeline that posts statuses or notes without end meets it. */
const MAX_BYTES = 64 * 1024 * 1024;

/** First id of a project that is made without one. */
const FIRST_PROJECT_ID = 102;

/** What the source-control server keeps, and the rules by which it changes. */
export class ScmProjects {
  readonly #log: KeyedLog<ScmProject>;
  readonly #nowMs: () => number;
  readonly #onChange: (project: ScmProject) => void;
  /** What each project holds, by its id. */
  readonly #bytes = new Map<number, number>();
  #allBytes = 0;

  constructor(log: KeyedLog<ScmProject>, options: { nowMs(): number; onChange(project: ScmProject): void }) {
    this.#log = log;
    this.#nowMs = options.nowMs;
    this.#onChange = options.onChange;
    for (const project of this.all()) this.#count(project, heldBytes(project));
  }

  /** Oldest first. */
  all(): ScmProject[] {
    return Array.from(this.#log.entries(), ([, project]) => project);
  }

  /** By id, or by its path with namespace. Throws 404. */
  get(idOrPath: string): ScmProject {
    const found = this.#log.get(idOrPath) ?? this.all().find((one) => pathWithNamespace(one) === idOrPath);
    if (!found) throw notFound('Project');
    return found;
  }

  async create(asked: {
    id?: number;
    name: string;
    path?: string;
    namespace: string;
    description?: string;
    default_branch?: string;
  }): Promise<ScmProject> {
    const path = asked.path ?? slugOf(asked.name);
    const present = this.all();
    if (present.some((one) => pathWithNamespace(one) === `${asked.namespace}/${path}`)) {
      throw conflict('Path has already been taken', 'Name has already been taken');
    }
    const project: ScmProject = {
      id: asked.id ?? Math.max(FIRST_PROJECT_ID, ...present.map(({ id }) => id + 1)),
      name: asked.name,
      path,
      namespace: asked.namespace,
      description: asked.description ?? null,
      default_branch: asked.default_branch ?? 'main',
      created_at: this.now(),
      merge_requests: [],
      environments: [],
      statuses: [],
      variables: [],
    };
    return this.save(project);
  }

  /** Keeps a project as it now is; resolves when it is durable. Throws 507 when it grows and there is no room. */
  async save(project: ScmProject): Promise<ScmProject> {
    const bytes = heldBytes(project);
    const grownBytes = bytes - (this.#bytes.get(project.id) ?? 0);
    if (grownBytes > 0 && this.#allBytes + grownBytes > MAX_BYTES) throw full(MAX_BYTES);
    this.#count(project, bytes);
    await this.#log.put(String(project.id), project);
    this.#onChange(project);
    return project;
  }

  async createMergeRequest(
    project: ScmProject,
    asked: Pick<ScmMergeRequest, 'title' | 'description' | 'source_branch' | 'target_branch'>,
  ): Promise<ScmMergeRequest> {
    const open = project.merge_requests.find(
      (one) =>
        one.state === 'opened' &&
        one.source_branch === asked.source_branch &&
        one.target_branch === asked.target_branch,
    );
    if (open) throw conflict(`Another open merge request already exists for this source branch: !${open.iid}`);
    const at = this.now();
    const mergeRequest: ScmMergeRequest = {
      ...asked,
      id: this.#nextId(({ merge_requests }) => merge_requests),
      iid: Math.max(0, ...project.merge_requests.map(({ iid }) => iid)) + 1,
      state: 'opened',
      sha: null,
      author: SCM_USER,
      created_at: at,
      updated_at: at,
      notes: [],
    };
    await this.save({ ...project, merge_requests: [...project.merge_requests, mergeRequest] });
    return mergeRequest;
  }

  /** Throws 404. */
  mergeRequest(project: ScmProject, iid: string): ScmMergeRequest {
    const found = project.merge_requests.find((one) => String(one.iid) === iid);
    if (!found) throw notFound('Merge Request');
    return found;
  }

  async replaceMergeRequest(project: ScmProject, changed: ScmMergeRequest): Promise<ScmMergeRequest> {
    const updated = { ...changed, updated_at: this.now() };
    const merge_requests = project.merge_requests.map((one) => (one.iid === updated.iid ? updated : one));
    await this.save({ ...project, merge_requests });
    return updated;
  }

  async addNote(project: ScmProject, mergeRequest: ScmMergeRequest, body: string): Promise<ScmNote> {
    const at = this.now();
    const id = this.#nextId(({ merge_requests }) => merge_requests.flatMap(({ notes }) => notes));
    const note: ScmNote = { id, body, author: SCM_USER, created_at: at, updated_at: at };
    await this.replaceMergeRequest(project, { ...mergeRequest, notes: [...mergeRequest.notes, note] });
    return note;
  }

  async createEnvironment(project: ScmProject, name: string, externalUrl: string | null): Promise<ScmEnvironment> {
    if (project.environments.some((one) => one.name === name)) throw conflict('Name has already been taken');
    const at = this.now();
    const environment: ScmEnvironment = {
      id: this.#nextId(({ environments }) => environments),
      name,
      slug: slugOf(name),
      external_url: externalUrl,
      state: 'available',
      created_at: at,
      updated_at: at,
    };
    await this.save({ ...project, environments: [...project.environments, environment] });
    return environment;
  }

  /** Throws 404. */
  environment(project: ScmProject, id: string): ScmEnvironment {
    const found = project.environments.find((one) => String(one.id) === id);
    if (!found) throw notFound('Environment');
    return found;
  }

  async replaceEnvironment(project: ScmProject, changed: ScmEnvironment): Promise<ScmEnvironment> {
    const updated = { ...changed, updated_at: this.now() };
    const environments = project.environments.map((one) => (one.id === updated.id ? updated : one));
    await this.save({ ...project, environments });
    return updated;
  }

  /** Ids of commit statuses, which are a project's own list. */
  nextStatusId(): number {
    return this.#nextId(({ statuses }) => statuses);
  }

  now(): string {
    return new Date(this.#nowMs()).toISOString();
  }

  #count({ id }: ScmProject, bytes: number): void {
    this.#allBytes += bytes - (this.#bytes.get(id) ?? 0);
    this.#bytes.set(id, bytes);
  }

  #nextId(listOf: (project: ScmProject) => readonly { id: number }[]): number {
    return Math.max(0, ...this.all().flatMap((project) => listOf(project).map(({ id }) => id))) + 1;
  }
}
