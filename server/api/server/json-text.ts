const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((mark) => Buffer.from(mark)) as [Buffer, Buffer, Buffer];

export class JsonText {
  readonly #parts: readonly Uint8Array[];

  constructor(parts: readonly Uint8Array[]) {
    this.#parts = parts;
  }

  static list(values: readonly Uint8Array[]): JsonText {
    return new JsonText([OPEN, ...values.flatMap((value, at) => (at === 0 ? [value] : [COMMA, value])), CLOSE]);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
