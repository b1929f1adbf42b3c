import { heldBytes } from '../../model/held-bytes.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { conflict, full, notFound } from './scm-error.ts';
import type { MergeRequestAction, ScmHooks } from './scm-hooks.ts';
import {
  groupIdOf,
  groupPathsOf,
  pathWithNamespace,
  SCM_USER,
  type ScmEnvironment,
  type ScmGroup,
  type ScmLists,
  type ScmMergeRequest,
  type ScmNote,
  type ScmProject,
  slugOf,
} from './scm-state.ts';

export const DEMO_PROJECT = { id: 101, name: 'shop', namespace: 'fern-moss' } as const;

/** Limit for all projects together, against pipelines that post statuses or notes in a loop. */
const MAX_BYTES = 64 * 1024 * 1024;

const FIRST_PROJECT_ID = 102;

const ACTIONS = { closed: 'close', opened: 'reopen', merged: 'merge' } as const;

type ListName = keyof ScmLists;
type RecordOf<L extends ListName> = NonNullable<ScmLists[L]>[number];

export interface ScmProjectsOptions {
  projects: KeyedLog<ScmProject>;
  groups: KeyedLog<ScmGroup>;
  nowMs(): number;
  /** Called for each saved project, and without one for a saved group. */
  onChange?(project?: ScmProject): void;
}

export const nextId = (all: readonly { id: number }[] = []) => Math.max(0, ...all.map(({ id }) => id)) + 1;

/** The list with another record, or none, in place of one; with one more if `before` is undefined. */
export function replaced<T>(list: readonly T[], before: T | undefined, ...after: readonly T[]): T[] {
  return before === undefined ? [...list, ...after] : list.flatMap((item) => (item === before ? after : [item]));
}

export class ScmProjects {
  readonly #options: ScmProjectsOptions;
  readonly #hooks: ScmHooks;
  /** Size of each project by id, and of each group by path. */
  readonly #bytes = new Map<number | string, number>();
  #allBytes = 0;

  constructor(options: ScmProjectsOptions, hooks: ScmHooks) {
    this.#options = options;
    this.#hooks = hooks;
    for (const project of this.all()) this.#count(project.id, heldBytes(project));
    for (const [path, group] of options.groups.entries()) this.#count(path, heldBytes(group));
  }

  /** Oldest first. */
  all(): ScmProject[] {
    return Array.from(this.#options.projects.entries(), ([, project]) => project);
  }

  /** Finds a project by its id, or by its path with namespace. Throws 404. */
  get(idOrPath: string): ScmProject {
    const found =
      this.#options.projects.get(idOrPath) ?? this.all().find((project) => pathWithNamespace(project) === idOrPath);
    if (!found) throw notFound('Project');
    return found;
  }

  async create(attributes: {
    id?: number;
    name: string;
    path?: string;
    namespace: string;
    description?: string;
    default_branch?: string;
  }): Promise<ScmProject> {
    const path = attributes.path ?? slugOf(attributes.name);
    const present = this.all();
    if (present.some((project) => pathWithNamespace(project) === `${attributes.namespace}/${path}`)) {
      throw conflict('Path has already been taken', 'Name has already been taken');
    }
    return this.save({
      description: null,
      default_branch: 'main',
      ...attributes,
      id: attributes.id ?? Math.max(FIRST_PROJECT_ID, nextId(present)),
      path,
      created_at: this.now(),
      merge_requests: [],
      environments: [],
      statuses: [],
      variables: [],
    });
  }

  /** Saves a changed project; resolves when it is durable. Throws 507 if it grows beyond the limit. */
  async save(project: ScmProject): Promise<ScmProject> {
    this.#count(project.id, heldBytes(project), MAX_BYTES);
    await this.#options.projects.put(String(project.id), project);
    this.#options.onChange?.(project);
    return project;
  }

  /** Saves a project with other records, or none, in place of one of a list; with more if `before` is undefined. */
  replace<L extends ListName>(
    project: ScmProject,
    list: L,
    before: RecordOf<L> | undefined,
    ...after: RecordOf<L>[]
  ): Promise<ScmProject> {
    const { [list]: present = [] }: { [N in ListName]?: RecordOf<N>[] } = project;
    return this.save({ ...project, [list]: replaced(present, before, ...after) });
  }

  async remove({ id }: ScmProject): Promise<void> {
    this.#count(id, 0);
    await this.#options.projects.remove(String(id));
    this.#options.onChange?.();
  }

  /** Returns the groups above projects, and those with variables; sorted by path. */
  groups(): ScmGroup[] {
    const { groups } = this.#options;
    const paths = this.all().flatMap(({ namespace }) => groupPathsOf(namespace));
    const all = new Set([...paths, ...Array.from(groups.entries(), ([path]) => path)]);
    return [...all].sort().map((path) => groups.get(path) ?? { path, variables: [] });
  }

  /** Finds a group by its id, or by its path. Throws 404. */
  group(idOrPath: string): ScmGroup {
    const found = this.groups().find(({ path }) => path === idOrPath || String(groupIdOf(path)) === idOrPath);
    if (!found) throw notFound('Group');
    return found;
  }

  async saveGroup(group: ScmGroup): Promise<void> {
    this.#count(group.path, heldBytes(group), MAX_BYTES);
    await this.#options.groups.put(group.path, group);
    this.#options.onChange?.();
  }

  async createMergeRequest(
    project: ScmProject,
    attributes: Pick<ScmMergeRequest, 'title' | 'description' | 'source_branch' | 'target_branch'> &
      Partial<ScmMergeRequest>,
  ): Promise<ScmMergeRequest> {
    const open = openMergeRequest(project, attributes.source_branch, attributes.target_branch);
    if (open) throw conflict(`Another open merge request already exists for this source branch: !${open.iid}`);
    const at = this.now();
    const mergeRequest: ScmMergeRequest = {
      sha: null,
      ...attributes,
      id: this.nextId(({ merge_requests }) => merge_requests),
      iid: Math.max(0, ...project.merge_requests.map(({ iid }) => iid)) + 1,
      state: 'opened',
      author: SCM_USER,
      created_at: at,
      updated_at: at,
      notes: [],
    };
    const saved = await this.replace(project, 'merge_requests', undefined, mergeRequest);
    this.#hooks.mergeRequestChanged(saved, mergeRequest, 'open');
    return mergeRequest;
  }

  /** Throws 404. */
  mergeRequest(project: ScmProject, iid: string): ScmMergeRequest {
    const found = project.merge_requests.find((mergeRequest) => String(mergeRequest.iid) === iid);
    if (!found) throw notFound('Merge Request');
    return found;
  }

  /** @param added set if the change is a note */
  async replaceMergeRequest(project: ScmProject, changed: ScmMergeRequest, added?: ScmNote): Promise<ScmMergeRequest> {
    const updated = { ...changed, updated_at: this.now() };
    const before = this.mergeRequest(project, String(updated.iid));
    const saved = await this.replace(project, 'merge_requests', before, updated);
    const action: MergeRequestAction = before.state === updated.state ? 'update' : ACTIONS[updated.state];
    if (added || before.notes === updated.notes) this.#hooks.mergeRequestChanged(saved, updated, action, added);
    return updated;
  }

  async addNote(project: ScmProject, mergeRequest: ScmMergeRequest, body: string): Promise<ScmNote> {
    const at = this.now();
    const id = this.nextId(({ merge_requests }) => merge_requests.flatMap(({ notes }) => notes));
    const note: ScmNote = { id, body, author: SCM_USER, created_at: at, updated_at: at };
    await this.replaceMergeRequest(project, { ...mergeRequest, notes: [...mergeRequest.notes, note] }, note);
    return note;
  }

  async createEnvironment(project: ScmProject, name: string, externalUrl: string | null): Promise<ScmEnvironment> {
    if (project.environments.some((environment) => environment.name === name))
      throw conflict('Name has already been taken');
    const at = this.now();
    const environment: ScmEnvironment = {
      id: this.nextId(({ environments }) => environments),
      name,
      slug: slugOf(name),
      external_url: externalUrl,
      state: 'available',
      created_at: at,
      updated_at: at,
    };
    await this.replace(project, 'environments', undefined, environment);
    return environment;
  }

  now(): string {
    return new Date(this.#options.nowMs()).toISOString();
  }

  /** For records that are numbered across all projects. */
  nextId(listOf: (project: ScmProject) => readonly { id: number }[]): number {
    return nextId(this.all().flatMap(listOf));
  }

  /** Throws 507 if it grows beyond the limit. */
  #count(id: number | string, bytes: number, maxBytes = Number.POSITIVE_INFINITY): void {
    const grownBytes = bytes - (this.#bytes.get(id) ?? 0);
    if (grownBytes > 0 && this.#allBytes + grownBytes > maxBytes) throw full(maxBytes);
    this.#allBytes += grownBytes;
    this.#bytes.set(id, bytes);
  }
}

/** The open merge request of a branch, into any branch unless given. */
export const openMergeRequest = ({ merge_requests }: ScmProject, source: string, target?: string) =>
  merge_requests.find(
    (mergeRequest) =>
      mergeRequest.state === 'opened' &&
      mergeRequest.source_branch === source &&
      (target === undefined || mergeRequest.target_branch === target),
  );
