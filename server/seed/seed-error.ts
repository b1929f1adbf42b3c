/** What is wrong with a seed file, in one sentence that begins with where: `demo.yaml:12: /orgs/demo: ...`. */
export class SeedError extends Error {
  override readonly name = 'SeedError';
  readonly file: string;
  /** Counted from 1; absent when the file as a whole is meant. */
  readonly line: number | undefined;
  /** JSON Pointer into the file; empty when the file as a whole is meant. */
  readonly pointer: string;

  constructor(at: { file: string; line?: number | undefined; pointer?: string }, reason: string, cause?: unknown) {
    const place = at.line === undefined ? at.file : `${at.file}:${at.line}`;
    super(`${place}: ${at.pointer ? `${at.pointer}: ` : ''}${reason}`, cause === undefined ? undefined : { cause });
    this.file = at.file;
    this.line = at.line;
    this.pointer = at.pointer ?? '';
  }
}
