/** Exit code for an answer that is no: no lead came, the lambda failed, something needed does not work. */
export const NO = 1;

/** Ends a command with an exit code of its own. */
export class ExitWith extends Error {
  override readonly name = 'ExitWith';
  readonly exitCode: number;

  /** @param sentence told on standard error, if there is one */
  constructor(exitCode: number, sentence = '') {
    super(sentence);
    this.exitCode = exitCode;
  }
}
