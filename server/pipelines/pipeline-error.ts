/** Exit code of a run that was cancelled, as shells have it for Ctrl+C. */
export const CANCELED = 130;

/** A pipeline that cannot go on, in a sentence that says what to put right. */
export class PipelineError extends Error {
  override readonly name = 'PipelineError';
  /** 2 for what the person can put right in what was asked; 1 where the answer is no. */
  readonly exitCode: 1 | 2 | typeof CANCELED;

  constructor(sentence: string, exitCode: PipelineError['exitCode'] = 2) {
    super(sentence);
    this.exitCode = exitCode;
  }
}
