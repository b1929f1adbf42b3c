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
