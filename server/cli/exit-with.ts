/** Exit code if the operation failed or the condition was not met: no lead came, the lambda failed, a check failed. */
export const NO = 1;

export class ExitWith extends Error {
  override readonly name = 'ExitWith';
  readonly exitCode: number;

  /** @param sentence printed on standard error unless empty */
  constructor(exitCode: number, sentence = '') {
    super(sentence);
    this.exitCode = exitCode;
  }
}
