import { KEYWORDS } from '../../server/runtimes/pipelines/keywords.ts';
import { code, table } from './markdown.ts';

/** How each keyword of a pipeline's definition behaves. */
export function pipelineKeywords(): string {
  return table(
    ['keyword', 'state', 'difference'],
    KEYWORDS.map(({ name, state, what = '' }) => [code(name), state, what]),
  );
}
