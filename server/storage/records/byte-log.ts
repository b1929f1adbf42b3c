import type { LogFiles } from './log-files.ts';

export const SLAB_BYTES = 256 * 1024;
const MIN_SLABS = 8;
const LOADED_SLABS = 8;

/** Slabs within one budget for all logs; if it is used up, the largest log gives up its oldest. */
export class BufferPool {
  /** In the order in which they were made. */
  readonly logs: ByteLog[] = [];
  readonly budgetBytes: number;
  #slabCount = 0;

  constructor(budgetBytes: number) {
    this.budgetBytes = SLAB_BYTES * Math.max(MIN_SLABS, Math.floor(budgetBytes / SLAB_BYTES));
  }

  get sizeBytes(): number {
    return this.#slabCount * SLAB_BYTES;
  }

  take(): Buffer {
    if (this.sizeBytes >= this.budgetBytes) {
      for (const log of [...this.logs].sort((a, b) => b.slabs - a.slabs)) {
        const slab = log.giveUp();
        if (slab) return slab;
      }
    }
    this.#slabCount += 1;
    // V8 collects garbage more often with much memory outside its heap, but does not count shared memory. These slabs never become garbage.
    return Buffer.from(new SharedArrayBuffer(SLAB_BYTES));
  }
}

/** Bytes with positions that never change: the newest in memory, in slabs of the pool, older ones in files, if enabled. */
export class ByteLog {
  readonly #pool: BufferPool;
  readonly #files: LogFiles | undefined;
  readonly #slabs: Buffer[] = [];
  /** Index of the first slab: slab n contains the positions from n * SLAB_BYTES on. */
  #first = 0;
  #end = 0;
  /** All bytes before it are in files, or lost. */
  #saved = 0;
  readonly #outgoing: Buffer;
  readonly #loaded = new Map<number, Buffer>();

  constructor(pool: BufferPool, files?: LogFiles) {
    this.#pool = pool;
    this.#files = files;
    this.#outgoing = Buffer.allocUnsafeSlow(files ? SLAB_BYTES : 0);
    pool.logs.push(this);
  }

  get slabs(): number {
    return this.#slabs.length;
  }

  get end(): number {
    return this.#end;
  }

  get oldest(): number {
    const inMemory = this.#first * SLAB_BYTES;
    return Math.min(inMemory, this.#files?.segments[0]?.from ?? inMemory);
  }

  get unsavedBytes(): number {
    return this.#files === undefined ? 0 : this.#end - this.#saved;
  }

  /** Returns true if these bytes are in memory or in files, without reading them. */
  has(at: number, lengthBytes: number): boolean {
    const inMemory = this.#first * SLAB_BYTES;
    return at >= inMemory || this.#files?.has(at, Math.min(at + lengthBytes, inMemory)) === true;
  }

  /** Continues after the end of the files. @param least nothing is added before this position, because later bytes existed and are lost */
  open(least: number): void {
    const end = this.#files?.end ?? 0;
    this.#end = least > end ? Math.ceil(least / SLAB_BYTES) * SLAB_BYTES : end;
    this.#saved = this.#end;
    this.#first = Math.floor(this.#end / SLAB_BYTES);
    const within = this.#end % SLAB_BYTES;
    if (within === 0) return;
    const slab = this.#pool.take();
    const from = this.#first * SLAB_BYTES;
    const existingBytes = this.#files?.read(from, within);
    // Only after damage can a file begin within a slab of the previous one; the earlier bytes are then lost.
    if (existingBytes?.length === within) slab.set(existingBytes);
    else slab.fill(0, 0, within);
    this.#slabs.push(slab);
  }

  append(bytes: Uint8Array): number {
    const at = this.#end;
    let done = 0;
    while (done < bytes.length) {
      const within = this.#end % SLAB_BYTES;
      if (within === 0) {
        const slab = this.#pool.take(); // can remove one of these slabs
        if (this.#slabs.length === 0) this.#first = this.#end / SLAB_BYTES;
        this.#slabs.push(slab);
      }
      const count = Math.min(SLAB_BYTES - within, bytes.length - done);
      const part = count === bytes.length ? bytes : bytes.subarray(done, done + count);
      // V8's `set` copies byte by byte into shared memory, which takes twelve times as long.
      this.#slabs[this.#slabs.length - 1]?.fill(part, within, within + count);
      done += count;
      this.#end += count;
    }
    return at;
  }

  /** Adds text as UTF-8. Returns the number of bytes; their position is the previous end. */
  appendText(text: string): number {
    const within = this.#end % SLAB_BYTES;
    const slab = within === 0 ? undefined : this.#slabs[this.#slabs.length - 1];
    // A UTF-16 unit takes at most three bytes.
    if (slab && within + 3 * text.length <= SLAB_BYTES) {
      const count = slab.write(text, within);
      this.#end += count;
      return count;
    }
    const bytes = Buffer.from(text);
    this.append(bytes);
    return bytes.length;
  }

  /** Fills the slab with zeros if that many bytes do not fit, so that the next item is not divided. */
  keepTogether(lengthBytes: number): void {
    const within = this.#end % SLAB_BYTES;
    if (within === 0 || within + lengthBytes <= SLAB_BYTES) return;
    this.#slabs[this.#slabs.length - 1]?.fill(0, within);
    this.#end += SLAB_BYTES - within;
  }

  /** Bytes in memory or files, valid until the next turn, after which the memory can be reused; undefined if not kept. */
  read(at: number, lengthBytes: number): Buffer | undefined {
    if (at < 0 || at + lengthBytes > this.#end) return undefined;
    const index = Math.floor(at / SLAB_BYTES);
    const within = at - index * SLAB_BYTES;
    const slab = this.#slabs[index - this.#first];
    if (slab && within + lengthBytes <= SLAB_BYTES) return slab.subarray(within, within + lengthBytes);
    return this.#collected(at, lengthBytes);
  }

  #collected(at: number, lengthBytes: number): Buffer | undefined {
    const collectedBytes = Buffer.allocUnsafe(lengthBytes);
    let done = 0;
    while (done < lengthBytes) {
      const index = Math.floor((at + done) / SLAB_BYTES);
      const within = at + done - index * SLAB_BYTES;
      const slab = this.#slabs[index - this.#first] ?? this.#load(index);
      const count = Math.min(SLAB_BYTES - within, lengthBytes - done);
      if (!slab || slab.length < within + count) return undefined;
      collectedBytes.set(slab.subarray(within, within + count), done);
      done += count;
    }
    return collectedBytes;
  }

  #load(index: number): Buffer | undefined {
    const loadedSlab = this.#loaded.get(index);
    this.#loaded.delete(index);
    const slab = loadedSlab ?? this.#files?.read(index * SLAB_BYTES, SLAB_BYTES);
    if (!slab) return undefined;
    this.#loaded.set(index, slab);
    for (const oldest of this.#loaded.keys()) if (this.#loaded.size > LOADED_SLABS) this.#loaded.delete(oldest);
    return slab;
  }

  /** Writes the unsaved bytes to files; rejects if that fails, and can be called again. */
  async save(): Promise<void> {
    const files = this.#files;
    if (!files) return;
    const until = this.#end;
    while (this.#saved < until) {
      const index = Math.floor(this.#saved / SLAB_BYTES);
      const from = index * SLAB_BYTES;
      const slab = this.#slabs[index - this.#first];
      if (!slab) throw new Error('unsaved bytes are in memory');
      const [begin, end] = [this.#saved - from, Math.min(SLAB_BYTES, this.#end - from)];
      // A copy, because the slab may be needed during the write. A new slab in its place would be freed late.
      const copy = this.#outgoing.subarray(0, slab.copy(this.#outgoing, 0, begin, end));
      await files.write(this.#saved, copy, begin === 0);
      this.#saved = Math.max(this.#saved, from + end);
    }
  }

  /** Releases the oldest slab; undefined if all are needed. */
  giveUp(): Buffer | undefined {
    if (this.#slabs.length <= 1) return undefined;
    const slab = this.#slabs.shift();
    this.#first += 1;
    this.#saved = Math.max(this.#saved, this.#first * SLAB_BYTES);
    return slab;
  }
}
