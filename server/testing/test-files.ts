import { type AppendHandle, type Chunks, MemoryFiles } from '../storage/files/files.ts';

export type FileStep = 'append' | 'sync' | 'truncate' | 'replace' | 'rename' | 'remove';

/** A system error as Node.js throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated error, write`), { code });
}

/** Files in memory whose steps a test can observe and fail. A failed append leaves half of its bytes in the file. */
export class TestFiles extends MemoryFiles {
  readonly steps: FileStep[] = [];
  /** Throws or rejects to fail a step. */
  before: (step: FileStep) => void | Promise<void> = () => undefined;
  /** Called after a step. */
  after: (step: FileStep) => void | Promise<void> = () => undefined;

  override async openAppend(name: string): Promise<AppendHandle> {
    const handle = await super.openAppend(name);
    return {
      check: () => undefined,
      append: (bytes) =>
        this.#step(
          'append',
          () => handle.append(bytes),
          () => handle.append(bytes.subarray(0, bytes.length / 2)),
        ),
      sync: () => this.#step('sync', () => handle.sync()),
      truncate: (sizeBytes) => this.#step('truncate', () => handle.truncate(sizeBytes)),
      close: () => handle.close(),
    };
  }

  override async replace(name: string, content: Chunks): Promise<number> {
    return this.#step('replace', () => super.replace(name, content));
  }

  override async rename(from: string, to: string): Promise<void> {
    return this.#step('rename', () => super.rename(from, to));
  }

  override async remove(name: string): Promise<void> {
    return this.#step('remove', () => super.remove(name));
  }

  /** The files as a crash would leave them now. */
  async copy(): Promise<MemoryFiles> {
    const copy = new MemoryFiles();
    const history = (await this.list('history')).map((name) => `history/${name}`);
    for (const name of ['world.json', 'journal.jsonl', 'log.jsonl', ...history]) {
      const content = await this.read(name);
      if (content) await copy.replace(name, [Buffer.from(content)]);
    }
    return copy;
  }

  async #step<T>(step: FileStep, work: () => Promise<T>, fail?: () => Promise<void>): Promise<T> {
    this.steps.push(step);
    try {
      await this.before(step);
    } catch (error) {
      await fail?.();
      throw error;
    }
    const result = await work();
    await this.after(step);
    return result;
  }
}
