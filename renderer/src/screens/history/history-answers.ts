import type { Cause, CommitResource } from '../../../../server/model/commit.ts';

/** A commit without its operations, as `GET /inspect/history?brief=true` lists it. */
export interface BriefCommit {
  seq: number;
  at: string;
  cause: Cause;
  operations: number;
  resources: readonly CommitResource[];
}

/** A page of them; `oldest` and `newest` are the moments between which one can look back. */
export interface CommitPage {
  commits: readonly BriefCommit[];
  next?: number;
  oldest: number;
  newest: number;
}

export interface WorldOperation {
  op: string;
  path: string;
  value?: unknown;
}

/** One commit, hidden values hidden. */
export interface WholeCommit extends Omit<BriefCommit, 'operations'> {
  ops: readonly WorldOperation[];
}

/** One resource that two worlds do not agree on. */
export interface ResourceDifference extends CommitResource {
  action: 'create' | 'update' | 'delete';
}

/** What leads from one world to another; of a brief one `resources` are the first thousand and `ops` none. */
export interface Difference {
  resources: readonly ResourceDifference[];
  total: Readonly<Record<ResourceDifference['action'], number>>;
  ops?: readonly WorldOperation[];
}

/** A page of what there was at a moment. */
export interface OutlinePage {
  seq: number;
  total: number;
  resources: readonly CommitResource[];
}

/** A world that was kept under a name. */
export interface Snapshot {
  name: string;
  seq: number;
  at: string;
  sizeBytes: number;
}

/** Who made a commit, in words. */
export function actorOf({ cause }: Pick<BriefCommit, 'cause'>): string {
  return cause.actor?.name ?? 'the platform';
}

/** What a commit did, in words. */
export function deedOf({ cause }: Pick<BriefCommit, 'cause'>): string {
  return cause.note ?? cause.action ?? 'change';
}
