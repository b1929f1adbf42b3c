import type { AppendHandle, Chunks, ReadHandle, StoreFiles } from './files.ts';

class MemoryFile implements AppendHandle {
  chunks: Uint8Array[] = [];
  modifiedAtMs = Date.now();

  content(): Buffer {
    const content = Buffer.concat(this.chunks);
    this.chunks = [content];
    return content;
  }

  check(): void {}

  async append(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Uint8Array.from(bytes)); // the caller can reuse the buffer
    this.modifiedAtMs = Date.now();
  }

  async sync(): Promise<void> {}

  async truncate(sizeBytes: number): Promise<void> {
    this.chunks = [this.content().subarray(0, sizeBytes)];
  }

  async close(): Promise<void> {}
}

export class MemoryFiles implements StoreFiles {
  readonly wasKilled = false;
  readonly #files = new Map<string, MemoryFile>();

  pathOf(name: string): string {
    return `memory:${name}`;
  }

  check(): void {}

  guard(): void {}

  release(): void {}

  async read(name: string): Promise<Buffer | undefined> {
    return this.#files.get(name)?.content();
  }

  async openRead(name: string): Promise<ReadHandle | undefined> {
    const file = this.#files.get(name);
    if (!file) return undefined;
    const content = file.content();
    return {
      sizeBytes: content.length,
      modifiedAtMs: file.modifiedAtMs,
      read: async (position, lengthBytes) => content.subarray(position, position + lengthBytes),
      close: async () => undefined,
    };
  }

  readAt(name: string, position: number, lengthBytes: number): Buffer | undefined {
    return this.#files
      .get(name)
      ?.content()
      .subarray(position, position + lengthBytes);
  }

  async freeBytes(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }

  async list(folder: string): Promise<string[]> {
    const prefix = `${folder}/`;
    return [...this.#files.keys()]
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length))
      .sort();
  }

  async openAppend(name: string): Promise<AppendHandle> {
    const file = this.#files.get(name) ?? new MemoryFile();
    this.#files.set(name, file);
    return file;
  }

  async replace(name: string, content: Chunks): Promise<number> {
    const file = new MemoryFile();
    for await (const chunk of content) file.chunks.push(chunk);
    this.#files.set(name, file);
    return file.content().length;
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#files.get(from);
    if (!file) throw new Error(`${this.pathOf(from)} does not exist`);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  async remove(name: string): Promise<void> {
    this.#files.delete(name);
  }
}
