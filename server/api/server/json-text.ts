import { chunked } from '../../storage/files/yielding.ts';

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((mark) => Buffer.from(mark)) as [Buffer, Buffer, Buffer];

export class JsonText {
  readonly #parts: readonly Uint8Array[];

  constructor(parts: readonly Uint8Array[]) {
    this.#parts = parts;
  }

  static list(values: readonly Uint8Array[]): JsonText {
    return new JsonText([OPEN, ...values.flatMap((value, at) => (at === 0 ? [value] : [COMMA, value])), CLOSE]);
  }

  /** An object with a long list as its last member, written with turns for other tasks. */
  static async withList(members: object, name: string, list: Iterable<unknown>): Promise<JsonText> {
    function* texts() {
      let begin = `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(name)}:[`;
      for (const value of list) {
        yield begin + JSON.stringify(value);
        begin = ',';
      }
      yield begin === ',' ? ']}' : `${begin}]}`;
    }
    const parts: Buffer[] = [];
    for await (const part of chunked(texts())) parts.push(part);
    return new JsonText(parts);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
