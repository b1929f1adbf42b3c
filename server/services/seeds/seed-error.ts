/** An error in a seed document, in one sentence that starts with its place: `demo.yaml:12: /orgs/demo: ...`. */
export class SeedError extends Error {
  override readonly name = 'SeedError';
  readonly file: string;
  /** Counted from 1; absent when the document as a whole is meant, or was JSON that was sent. */
  readonly line: number | undefined;
  /** JSON Pointer into the document; empty when it is meant as a whole. */
  readonly pointer: string;
  readonly reason: string;

  constructor(at: { file: string; line?: number | undefined; pointer?: string }, reason: string, cause?: unknown) {
    const location = at.line === undefined ? at.file : `${at.file}:${at.line}`;
    super(`${location}: ${at.pointer ? `${at.pointer}: ` : ''}${reason}`, cause === undefined ? undefined : { cause });
    this.file = at.file;
    this.line = at.line;
    this.pointer = at.pointer ?? '';
    this.reason = reason;
  }
}
