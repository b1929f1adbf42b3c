/** Exit code if the operation failed or the condition was not met: no lead came, the lambda failed, a check failed. */
export const NO = 1;

export class ExitWith extends Error {
  override readonly name = 'ExitWith';
  readonly exitCode: number;
  /** The error code and HTTP status of a request that the platform rejected (D-180). */
  readonly reason: string | undefined;
  readonly status: number | undefined;

  /** @param sentence printed on standard error unless empty */
  constructor(
    exitCode: number,
    sentence = '',
    rejection: { reason?: string | undefined; status?: number | undefined } = {},
  ) {
    super(sentence);
    this.exitCode = exitCode;
    this.reason = rejection.reason;
    this.status = rejection.status;
  }
}
