/** An error response in the words and formats of the real server. */
export class ScmError extends Error {
  override readonly name = 'ScmError';
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: object) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }
}

/** A refusal of the container registry, in the format of the distribution specification. */
export const registryError = (status: number, code: string, message: string) =>
  new ScmError(status, { errors: [{ code, message }] });

/** `404 Project Not Found` */
export const notFound = (recordName: string) => new ScmError(404, { message: `404 ${recordName} Not Found` });

/** `title is missing` */
export const missing = (...names: string[]) =>
  new ScmError(400, { error: names.map((name) => `${name} is missing`).join(', ') });

/** `state does not have a valid value` */
export const invalidValue = (name: string) => new ScmError(400, { error: `${name} does not have a valid value` });

export const conflict = (...messages: string[]) => new ScmError(409, { message: messages });

/** `507 Insufficient Storage: ...` */
export const full = (maxBytes: number) =>
  new ScmError(507, {
    message: `507 Insufficient Storage: this server keeps ${maxBytes / (1024 * 1024)} MB of projects; delete notes, variables or environments`,
  });
