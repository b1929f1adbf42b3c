import type { BriefCommit, historyRows, ShownDifference } from '../../../../server/contract/history.ts';
import type { AnswerOf } from '../../../../server/contract/row.ts';

export type { BriefCommit } from '../../../../server/contract/history.ts';

/** A page of a brief list; `oldest` and `newest` are the moments between which one can look back. */
export type CommitPage = Omit<AnswerOf<typeof historyRows.listCommits>, 'commits'> & { commits: BriefCommit[] };
/** What leads from one world to another; of a brief one `resources` are the first thousand and `ops` none. */
export type Difference = Pick<ShownDifference, 'resources' | 'total'> & Partial<ShownDifference>;
export type ResourceDifference = ShownDifference['resources'][number];
export type WorldOperation = ShownDifference['ops'][number];
export type OutlinePage = AnswerOf<typeof historyRows.outlineWorldAt>;

/** Who made a commit, in words. */
export function actorOf({ cause }: Pick<BriefCommit, 'cause'>): string {
  return cause.actor?.name ?? 'the platform';
}

/** What a commit did, in words. */
export function changeOf({ cause }: Pick<BriefCommit, 'cause'>): string {
  return cause.note ?? cause.action ?? 'change';
}
