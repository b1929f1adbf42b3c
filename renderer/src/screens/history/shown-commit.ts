import type { Cause, CommitResource } from '../../../../server/model/commit.ts';

/** A commit, as `GET /inspect/history` gives it: hidden values hidden. */
export interface ShownCommit {
  seq: number;
  at: string;
  cause: Cause;
  ops: readonly { op: string; path: string; value?: unknown }[];
  resources: readonly CommitResource[];
}

export interface CommitPage {
  commits: ShownCommit[];
  /** Given back as `before` it leads on. */
  next?: number;
}
