import type { StoredResource, WorldView } from '../../model/record.ts';

/** All texts together; a thousand expanded records are about one megabyte. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Records as JSON until anything changes, because a record shows names and places of others. Not for what changes without the world. */
export class RenderedTexts {
  readonly #view: WorldView;
  #revision: number | undefined;
  #sizeBytes = 0;
  readonly #texts = new Map<string, Map<StoredResource, Buffer>>();

  constructor(view: WorldView) {
    this.#view = view;
  }

  /** The text of a record. @param reader who sees the same of it: what else its rendering depends on */
  textOf(reader: string, resource: StoredResource, render: () => string): Buffer {
    const { revision } = this.#view;
    if (revision === undefined) return Buffer.from(render());
    if (this.#revision !== revision || this.#sizeBytes > MAX_BYTES) {
      this.#texts.clear();
      this.#sizeBytes = 0;
      this.#revision = revision;
    }
    let texts = this.#texts.get(reader);
    if (!texts) {
      texts = new Map();
      this.#texts.set(reader, texts);
    }
    let text = texts.get(resource);
    if (!text) {
      text = Buffer.from(render());
      this.#sizeBytes += text.length;
      texts.set(resource, text);
    }
    return text;
  }
}
