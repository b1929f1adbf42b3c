import { systemTemporary, temporaryVariable } from '../../system/temporary.ts';

/** Exit code of a run that was cancelled, as shells have it for Ctrl+C. */
export const CANCELED = 130;

/** An error that ends a pipeline, with a message that says what to fix. */
export class PipelineError extends Error {
  override readonly name = 'PipelineError';
  /** 2 for incorrect usage or configuration; 1 for other failures. */
  readonly exitCode: 1 | 2 | typeof CANCELED;

  constructor(sentence: string, exitCode: PipelineError['exitCode'] = 2) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/**
 * Matches messages of the system, and of programs that repeat them, about a disk on which nothing can be written any
 * more.
 */
const DISK_FULL_MESSAGE = /\b(ENOSPC|EDQUOT)\b|no space left on device|disk quota exceeded/i;

/** A message with the folder if the failure is a full disk, else undefined. */
export function diskFullError(failure: unknown): PipelineError | undefined {
  const text = failure instanceof Error ? `${failure.message} ${Object(failure).code ?? ''}` : String(failure);
  if (!DISK_FULL_MESSAGE.test(text)) return undefined;
  return new PipelineError(
    `the disk of ${systemTemporary()}, where pipelines run, is full. Free some space, or set ${temporaryVariable()} to another folder.`,
    1,
  );
}
