import path from 'node:path';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import { type FileReading, readSource, WatchedFile } from './watched-file.ts';

export interface FileLink {
  /** Absolute path. */
  path: string;
}

export interface LinkState extends FileLink {
  /** Time of the last copy of the file to the lambda, in milliseconds since 1970. */
  takenAtMs?: number;
  problem?: string;
}

export interface LinkedFilesOptions {
  log: KeyedLog<FileLink>;
  /** The source that the lambda has now; undefined when it has none of its own, such as one with a package. Throws 404. */
  sourceOf(lambdaId: Uuid): string | undefined;
  /** Gives the lambda another source. Rejects with what is wrong about that. */
  save(lambdaId: Uuid, source: string): Promise<void>;
  onChange(lambdaId: Uuid): void;
  nowMs(): number;
}

const NOT_INLINE = "the lambda's code is a package: only inline code can follow a file";

/** Lambdas whose code follows a file on this machine: each saved change of the file is one of the lambda. */
export class LinkedFiles {
  readonly #options: LinkedFilesOptions;
  readonly #links = new Map<Uuid, { state: LinkState; file: WatchedFile }>();

  constructor(options: LinkedFilesOptions) {
    this.#options = options;
  }

  /** Goes on with the links of an earlier run. */
  start(): void {
    for (const [lambdaId, link] of this.#options.log.entries()) this.#follow(lambdaId, link);
  }

  find(lambdaId: Uuid): LinkState | undefined {
    return this.#links.get(lambdaId)?.state;
  }

  /**
   * From now on the lambda has what is in the file.
   *
   * @throws PlatformError 400 for a path that is not absolute, 409 for a lambda without code of its own, 422 for a file that
   *   cannot be read, and what saving the code may throw
   */
  async link(lambdaId: Uuid, file: string): Promise<LinkState> {
    if (!path.isAbsolute(file)) throw new PlatformError('invalid_body', `'${file}' is not an absolute path`);
    const normal = path.normalize(file);
    if (this.#options.sourceOf(lambdaId) === undefined) throw new PlatformError('invalid_state', NOT_INLINE);
    const reading = await readSource(normal);
    if (!reading.ok) throw new PlatformError('file_unreadable', reading.problem);
    await this.#take(lambdaId, reading.text);
    await this.unlink(lambdaId);
    await this.#options.log.put(lambdaId, { path: normal });
    this.#follow(lambdaId, { path: normal });
    this.#report(lambdaId, { path: normal, takenAtMs: this.#options.nowMs() });
    return { ...this.find(lambdaId), path: normal };
  }

  /** The lambda keeps its current code. Resolves to whether it was linked. */
  async unlink(lambdaId: Uuid): Promise<boolean> {
    const link = this.#links.get(lambdaId);
    if (!link) return false;
    this.#links.delete(lambdaId);
    await link.file.stop();
    await this.#options.log.remove(lambdaId);
    this.#options.onChange(lambdaId);
    return true;
  }

  /** Stops watching; the links are kept. */
  async stop(): Promise<void> {
    await Promise.all([...this.#links.values()].map(({ file }) => file.stop()));
  }

  #follow(lambdaId: Uuid, link: FileLink): void {
    const file = new WatchedFile(link.path, (reading) => this.#takeIn(lambdaId, link, reading));
    this.#links.set(lambdaId, { state: { ...link }, file });
  }

  async #takeIn(lambdaId: Uuid, link: FileLink, reading: FileReading): Promise<void> {
    const last = this.find(lambdaId)?.takenAtMs;
    const before = { ...link, ...(last !== undefined && { takenAtMs: last }) };
    if (!reading.ok) return this.#report(lambdaId, { ...before, problem: reading.problem });
    try {
      await this.#take(lambdaId, reading.text);
      this.#report(lambdaId, { ...link, takenAtMs: this.#options.nowMs() });
    } catch (thrown) {
      const reason = reasonOf(thrown);
      this.#report(lambdaId, { ...before, problem: `the lambda was not updated from the file: ${reason}` });
    }
  }

  async #take(lambdaId: Uuid, text: string): Promise<void> {
    const { sourceOf, save } = this.#options;
    const now = sourceOf(lambdaId);
    if (now === undefined) throw new PlatformError('invalid_state', NOT_INLINE);
    if (now !== text) await save(lambdaId, text);
  }

  #report(lambdaId: Uuid, state: LinkState): void {
    const link = this.#links.get(lambdaId);
    if (!link) return;
    link.state = state;
    this.#options.onChange(lambdaId);
  }
}
