import type { Operation } from 'fast-json-patch';
import type { Uuid } from './ids.ts';
import type { StoredResource } from './record.ts';

/** What a commit can have come through; `file`: the file that a lambda's code follows was saved. */
export const VIAS = ['api', 'ui', 'cli', 'seed', 'engine', 'startup', 'file'] as const;

/** Why a commit was made: who, through what, and by which action. */
export interface Cause {
  /** The acting user; null for the emulator itself. */
  actor: { id: Uuid; name: string } | null;
  via: (typeof VIAS)[number];
  requestId?: string;
  /** `noun.verb`, e.g. `container.update`. */
  action?: string;
  /** What was brought back, for a commit that undoes others: `revert of commit 12`. */
  note?: string;
}

/** A resource as a commit found or left it: what its operations alone do not tell. */
export interface CommitResource {
  id: Uuid;
  /** Type name after the prefix. */
  type: string;
  name: string;
  /** Names from the root organization down; `/` is that itself. */
  path: string;
}

/** One line of the journal: what changed, when, who and why; RFC 6902 operations on the world and their inverse. */
export interface Commit {
  /** 1, 2, 3 ... without a gap. */
  seq: number;
  atMs: number;
  cause: Cause;
  ops: Operation[];
  inverse: Operation[];
  /** Every resource that it changed: as it was left, or as it was before it was removed. */
  resources: CommitResource[];
}

/** What a commit did to one resource: created (no `before`), changed, or removed (no `after`). */
export interface Change {
  before?: StoredResource;
  after?: StoredResource;
}

/** Told after a commit is durable, in order. */
export type CommitListener = (commit: Commit, changes: readonly Change[]) => void;
