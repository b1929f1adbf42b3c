import type { Operation } from 'fast-json-patch';
import type { StoredResource, Uuid } from './record.ts';

/** The response header that has the numbers of the commits that a request made, separated by commas. */
export const COMMIT_HEADER = 'X-Terrarium-Commit';

/** Sources of commits; `file`: the file linked to a lambda was saved. */
export const CHANGE_SOURCES = ['api', 'ui', 'cli', 'mcp', 'seed', 'engine', 'startup', 'file'] as const;

export interface Cause {
  actor: { id: Uuid; name: string } | null;
  via: (typeof CHANGE_SOURCES)[number];
  requestId?: string;
  /** `noun.verb`, e.g. `container.update`. */
  action?: string;
  /** For a commit that undoes others: what was restored, e.g. `revert of commit 12`. */
  note?: string;
}

/** A resource before or after a commit, with data that the operations do not contain. */
export interface CommitResource {
  id: Uuid;
  type: string;
  name: string;
  /** Names from the root organization down; `/` is the root organization. */
  path: string;
}

/** One line of the journal: what changed, when, who and why. Contains RFC 6902 operations on the world and their inverse. */
export interface Commit {
  /** 1, 2, 3 ... without gaps. */
  seq: number;
  atMs: number;
  cause: Cause;
  ops: Operation[];
  inverse: Operation[];
  /** All changed resources: after the change, or before it if they were deleted. */
  resources: CommitResource[];
}

export interface Change {
  before?: StoredResource;
  after?: StoredResource;
}

/** Called after a commit is durable, in order. */
export type CommitListener = (commit: Commit, changes: readonly Change[]) => void;
