import { heldBytes } from '../../model/held-bytes.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { conflict, full, notFound } from './scm-error.ts';
import {
  groupIdOf,
  groupPathsOf,
  pathWithNamespace,
  SCM_USER,
  type ScmEnvironment,
  type ScmGroup,
  type ScmMergeRequest,
  type ScmNote,
  type ScmProject,
  slugOf,
} from './scm-state.ts';

export const DEMO_PROJECT = { id: 101, name: 'shop', namespace: 'fern-moss' } as const;

/** Limit for all projects together, against pipelines that post statuses or notes in a loop. */
const MAX_BYTES = 64 * 1024 * 1024;

/** First id of a project that is created without one. */
const FIRST_PROJECT_ID = 102;

/** Called after a merge request has changed, with the name of the change in webhooks, and with a note that was added. */
type MergeRequestListener = (
  project: ScmProject,
  mergeRequest: ScmMergeRequest,
  action: 'open' | 'close' | 'reopen' | 'merge' | 'update',
  note?: ScmNote,
) => void;
const ACTIONS = { closed: 'close', opened: 'reopen', merged: 'merge' } as const;

/** The projects of the mock GitLab, and the rules for their changes. */
export class ScmProjects {
  readonly #log: KeyedLog<ScmProject>;
  readonly #groups: KeyedLog<ScmGroup>;
  readonly #nowMs: () => number;
  readonly #onChange: (project?: ScmProject) => void;
  readonly #onMergeRequest: MergeRequestListener;
  /** Size of each project by id, and of each group by path. */
  readonly #bytes = new Map<number | string, number>();
  #allBytes = 0;

  constructor(
    { projects, groups }: { projects: KeyedLog<ScmProject>; groups: KeyedLog<ScmGroup> },
    options: { nowMs(): number; onChange(project?: ScmProject): void; onMergeRequest?: MergeRequestListener },
  ) {
    this.#log = projects;
    this.#groups = groups;
    this.#nowMs = options.nowMs;
    this.#onChange = options.onChange;
    this.#onMergeRequest = options.onMergeRequest ?? (() => undefined);
    for (const project of this.all()) this.#count(project.id, heldBytes(project));
    for (const [path, group] of groups.entries()) this.#count(path, heldBytes(group));
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

  /** Saves a changed project; resolves when it is durable. Throws 507 if it grows beyond the limit. */
  async save(project: ScmProject): Promise<ScmProject> {
    this.#count(project.id, heldBytes(project), MAX_BYTES);
    await this.#log.put(String(project.id), project);
    this.#onChange(project);
    return project;
  }

  async remove({ id }: ScmProject): Promise<void> {
    this.#count(id, 0);
    await this.#log.remove(String(id));
    this.#onChange();
  }

  /** Those above projects, and those with variables; sorted by path. */
  groups(): ScmGroup[] {
    const paths = this.all().flatMap(({ namespace }) => groupPathsOf(namespace));
    const all = new Set([...paths, ...Array.from(this.#groups.entries(), ([path]) => path)]);
    return [...all].sort().map((path) => this.#groups.get(path) ?? { path, variables: [] });
  }

  /** By id, or by its path. Throws 404. */
  group(idOrPath: string): ScmGroup {
    const found = this.groups().find(({ path }) => path === idOrPath || String(groupIdOf(path)) === idOrPath);
    if (!found) throw notFound('Group');
    return found;
  }

  async saveGroup(group: ScmGroup): Promise<void> {
    this.#count(group.path, heldBytes(group), MAX_BYTES);
    await this.#groups.put(group.path, group);
    this.#onChange();
  }

  async createMergeRequest(
    project: ScmProject,
    asked: Pick<ScmMergeRequest, 'title' | 'description' | 'source_branch' | 'target_branch'> &
      Partial<ScmMergeRequest>,
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
      sha: null,
      ...asked,
      id: this.#nextId(({ merge_requests }) => merge_requests),
      iid: Math.max(0, ...project.merge_requests.map(({ iid }) => iid)) + 1,
      state: 'opened',
      author: SCM_USER,
      created_at: at,
      updated_at: at,
      notes: [],
    };
    const saved = await this.save({ ...project, merge_requests: [...project.merge_requests, mergeRequest] });
    this.#onMergeRequest(saved, mergeRequest, 'open');
    return mergeRequest;
  }

  /** Throws 404. */
  mergeRequest(project: ScmProject, iid: string): ScmMergeRequest {
    const found = project.merge_requests.find((one) => String(one.iid) === iid);
    if (!found) throw notFound('Merge Request');
    return found;
  }

  /** @param added set if the change is a note */
  async replaceMergeRequest(project: ScmProject, changed: ScmMergeRequest, added?: ScmNote): Promise<ScmMergeRequest> {
    const updated = { ...changed, updated_at: this.now() };
    const before = this.mergeRequest(project, String(updated.iid));
    const merge_requests = project.merge_requests.map((one) => (one === before ? updated : one));
    const saved = await this.save({ ...project, merge_requests });
    const action = before.state === updated.state ? 'update' : ACTIONS[updated.state];
    if (added || before.notes === updated.notes) this.#onMergeRequest(saved, updated, action, added);
    return updated;
  }

  async addNote(project: ScmProject, mergeRequest: ScmMergeRequest, body: string): Promise<ScmNote> {
    const at = this.now();
    const id = this.#nextId(({ merge_requests }) => merge_requests.flatMap(({ notes }) => notes));
    const note: ScmNote = { id, body, author: SCM_USER, created_at: at, updated_at: at };
    await this.replaceMergeRequest(project, { ...mergeRequest, notes: [...mergeRequest.notes, note] }, note);
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

  /** Ids of commit statuses, which are numbered per project. */
  nextStatusId(): number {
    return this.#nextId(({ statuses }) => statuses);
  }

  now(): string {
    return new Date(this.#nowMs()).toISOString();
  }

  /** Throws 507 if it grows beyond the limit. */
  #count(id: number | string, bytes: number, maxBytes = Number.POSITIVE_INFINITY): void {
    const grownBytes = bytes - (this.#bytes.get(id) ?? 0);
    if (grownBytes > 0 && this.#allBytes + grownBytes > maxBytes) throw full(maxBytes);
    this.#allBytes += grownBytes;
    this.#bytes.set(id, bytes);
  }

  #nextId(listOf: (project: ScmProject) => readonly { id: number }[]): number {
    return Math.max(0, ...this.all().flatMap((project) => listOf(project).map(({ id }) => id))) + 1;
  }
}
