import { KEYWORDS } from '../../server/runtimes/pipelines/keywords.ts';
import { code, table } from './markdown.ts';

/** States of keywords that are rejected in some jobs only. */
const PARTIAL_STATES: Readonly<Record<string, string>> = { services: 'supported; rejected in jobs without an image' };

/** Returns a table of the supported pipeline keywords and their differences from GitLab. */
export function pipelineKeywords(): string {
  return table(
    ['keyword', 'state', 'difference'],
    KEYWORDS.map(({ name, state, what: difference = '' }) => [
      code(name),
      PARTIAL_STATES[name] ?? (state === 'refused' ? 'rejected' : state),
      difference,
    ]),
  );
}
