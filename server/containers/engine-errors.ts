/** No engine answers at its address. */
export class EngineUnreachable extends Error {
  override readonly name = 'EngineUnreachable';

  /** @param reason what happened, where, and what to do: one sentence that a client may see */
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
  }
}

/** Something of this world stays behind in an engine; its message names it, and the command that removes it. */
export class EngineLeftovers extends Error {
  override readonly name = 'EngineLeftovers';
}

/** What an engine refused to do, by what it is about. */
export type RefusalKind =
  | 'image' // it cannot be pulled (D-051)
  | 'definition' // the engine finds fault with the definition: name, port, mount, command
  | 'missing' // there is no such instance
  | 'conflict'
  | 'fault'; // of the engine itself

/** An engine that answered, and said no. */
export class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal';
  readonly kind: RefusalKind;

  /** @param reason what the engine says and what to do about it: one sentence that a client may see */
  constructor(kind: RefusalKind, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.kind = kind;
  }
}
