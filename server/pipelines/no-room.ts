import { tmpdir } from 'node:os';
import { PipelineError } from './pipeline-error.ts';

/** What the system, and programs in its words, say of a disk on which nothing can be written any more. */
const WORDS = /\b(ENOSPC|EDQUOT)\b|no space left on device|disk quota exceeded/i;

/** A failure for want of room, in a sentence that says where; undefined: it is another. */
export function noRoom(failure: unknown): PipelineError | undefined {
  const text = failure instanceof Error ? `${failure.message} ${Object(failure).code ?? ''}` : String(failure);
  if (!WORDS.test(text)) return undefined;
  return new PipelineError(
    `there is no room left in ${tmpdir()}, where pipelines run: make room, or set TMPDIR to a folder that has some`,
    1,
  );
}
