import type { BriefCommit, DifferenceView, historyRoutes } from '../../../../server/api/routes/history.ts';
import type { AnswerOf } from '../../../../server/api/routes/route.ts';

export type { BriefCommit } from '../../../../server/api/routes/history.ts';

/** A page of a brief list; `oldest` and `newest` are the moments between which one can look back. */
export type CommitPage = Omit<AnswerOf<typeof historyRoutes.listCommits>, 'commits'> & { commits: BriefCommit[] };
/** The difference between two worlds. A brief one contains the first thousand `resources` and no `ops`. */
export type Difference = Pick<DifferenceView, 'resources' | 'total'> & Partial<DifferenceView>;
export type ResourceDifference = DifferenceView['resources'][number];
export type WorldOperation = DifferenceView['ops'][number];
export type OutlinePage = AnswerOf<typeof historyRoutes.outlineWorldAt>;
