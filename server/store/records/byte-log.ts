import type { LogFiles } from './log-files.ts';
import { SLAB_BYTES, type SlabHolder, type SlabPool } from './slab-pool.ts';

/** Slabs that were read back from files, kept for the reader that goes on from there. */
const LOADED_SLABS = 8;

/**
 * Bytes one after the other, each at a position that never changes. The newest are in memory, in slabs of the pool; what is older is
 * in files, if there are any. Adding copies the bytes and waits for nothing.
 */
export class ByteLog implements SlabHolder {
  readonly #pool: SlabPool;
  readonly #files: LogFiles | undefined;
  /** One after the other; the last one is being filled. */
  readonly #slabs: Buffer[] = [];
  /** Of the first of them: slab n holds the positions from n * SLAB_BYTES on. */
  #first = 0;
  #end = 0;
  /** All before it is in files, or lost to them. */
  #saved = 0;
  readonly #outgoing: Buffer;
  readonly #loaded = new Map<number, Buffer>();

  /** @param files without them memory is all there is */
  constructor(pool: SlabPool, files?: LogFiles) {
    this.#pool = pool;
    this.#files = files;
    this.#outgoing = Buffer.allocUnsafeSlow(files ? SLAB_BYTES : 0);
    pool.join(this);
  }

  get slabs(): number {
    return this.#slabs.length;
  }

  /** Where the next bytes will be. */
  get end(): number {
    return this.#end;
  }

  /** Where what is kept begins, be it in memory or in files. */
  get oldest(): number {
    const inMemory = this.#first * SLAB_BYTES;
    return Math.min(inMemory, this.#files?.segments[0]?.from ?? inMemory);
  }

  get isSaved(): boolean {
    return this.#files === undefined || this.#saved === this.#end;
  }

  /**
   * Goes on where the files end.
   *
   * @param least nothing is added before this position: what is known to have been there is not there any more
   */
  open(least: number): void {
    const end = this.#files?.end ?? 0;
    this.#end = least > end ? Math.ceil(least / SLAB_BYTES) * SLAB_BYTES : end;
    this.#saved = this.#end;
    this.#first = Math.floor(this.#end / SLAB_BYTES);
    const within = this.#end % SLAB_BYTES;
    if (within === 0) return;
    const slab = this.#pool.take();
    const from = this.#first * SLAB_BYTES;
    const begun = this.#files?.read(from, within);
    // A file may begin within a slab of the one before only if that was damaged; then what was before is not there.
    if (begun?.length === within) slab.set(begun);
    else slab.fill(0, 0, within);
    this.#slabs.push(slab);
  }

  /** Returns where the bytes are. */
  append(bytes: Uint8Array): number {
    const at = this.#end;
    let done = 0;
    while (done < bytes.length) {
      const within = this.#end % SLAB_BYTES;
      if (within === 0) {
        const slab = this.#pool.take(); // may have us give up one
        if (this.#slabs.length === 0) this.#first = this.#end / SLAB_BYTES;
        this.#slabs.push(slab);
      }
      const count = Math.min(SLAB_BYTES - within, bytes.length - done);
      const part = count === bytes.length ? bytes : bytes.subarray(done, done + count);
      this.#slabs[this.#slabs.length - 1]?.set(part, within);
      done += count;
      this.#end += count;
    }
    return at;
  }

  /** The same of text, as UTF-8. Returns how many bytes that are; where they are is the end of before. */
  appendText(text: string): number {
    const within = this.#end % SLAB_BYTES;
    const slab = within === 0 ? undefined : this.#slabs[this.#slabs.length - 1];
    // No character has more than three bytes for each of its units.
    if (slab && within + 3 * text.length <= SLAB_BYTES) {
      const count = slab.write(text, within);
      this.#end += count;
      return count;
    }
    const bytes = Buffer.from(text);
    this.append(bytes);
    return bytes.length;
  }

  /** Fills up the slab with zeros when so many bytes do not fit in it any more: what is added next is not divided. */
  keepTogether(lengthBytes: number): void {
    const within = this.#end % SLAB_BYTES;
    if (within === 0 || within + lengthBytes <= SLAB_BYTES) return;
    this.#slabs[this.#slabs.length - 1]?.fill(0, within);
    this.#end += SLAB_BYTES - within;
  }

  /** Are these bytes in memory there? Makes no view of them: every request asks twice. */
  holds(at: number, bytes: Uint8Array): boolean {
    const { length } = bytes;
    if (length === 0) return true;
    const index = Math.floor(at / SLAB_BYTES);
    if (index < this.#first || at + length > this.#end) return false;
    const within = at - index * SLAB_BYTES;
    if (within + length > SLAB_BYTES) return this.view(at, length)?.equals(bytes) ?? false;
    return this.#slabs[index - this.#first]?.compare(bytes, 0, length, within, within + length) === 0;
  }

  /** What is in memory: good until the next turn, when the memory may hold something else. Undefined for what is not. */
  view(at: number, lengthBytes: number): Buffer | undefined {
    if (lengthBytes === 0) return Buffer.alloc(0);
    const index = Math.floor(at / SLAB_BYTES);
    if (index < this.#first || at + lengthBytes > this.#end) return undefined;
    const within = at - index * SLAB_BYTES;
    if (within + lengthBytes <= SLAB_BYTES) {
      return this.#slabs[index - this.#first]?.subarray(within, within + lengthBytes);
    }
    return collected(at, lengthBytes, (one) => this.#slabs[one - this.#first]);
  }

  /** What is in memory or files, good until the next turn; undefined for what is not kept. */
  read(at: number, lengthBytes: number): Buffer | undefined {
    const inMemory = this.view(at, lengthBytes);
    if (inMemory || at < 0 || at + lengthBytes > this.#end) return inMemory;
    return collected(at, lengthBytes, (index) => this.#slabs[index - this.#first] ?? this.#load(index));
  }

  #load(index: number): Buffer | undefined {
    const known = this.#loaded.get(index);
    this.#loaded.delete(index);
    const slab = known ?? this.#files?.read(index * SLAB_BYTES, SLAB_BYTES);
    if (!slab) return undefined;
    this.#loaded.set(index, slab);
    for (const oldest of this.#loaded.keys()) if (this.#loaded.size > LOADED_SLABS) this.#loaded.delete(oldest);
    return slab;
  }

  /** Writes to files what is not there yet; rejects when that fails, and can be called again. */
  async save(): Promise<void> {
    const files = this.#files;
    if (!files) return;
    const until = this.#end;
    while (this.#saved < until) {
      const index = Math.floor(this.#saved / SLAB_BYTES);
      const from = index * SLAB_BYTES;
      const slab = this.#slabs[index - this.#first];
      if (!slab) throw new Error('what is to be saved is in memory');
      const [begin, end] = [this.#saved - from, Math.min(SLAB_BYTES, this.#end - from)];
      // A copy, since memory that is being written could not be used again meanwhile.
      const copy = this.#outgoing.subarray(0, slab.copy(this.#outgoing, 0, begin, end));
      await files.write(this.#saved, copy, begin === 0);
      this.#saved = Math.max(this.#saved, from + end);
    }
  }

  giveUp(): Buffer | undefined {
    if (this.#slabs.length <= 1) return undefined;
    const slab = this.#slabs.shift();
    this.#first += 1;
    this.#saved = Math.max(this.#saved, this.#first * SLAB_BYTES);
    return slab;
  }
}

function collected(at: number, lengthBytes: number, slabAt: (index: number) => Buffer | undefined): Buffer | undefined {
  const whole = Buffer.allocUnsafe(lengthBytes);
  let done = 0;
  while (done < lengthBytes) {
    const index = Math.floor((at + done) / SLAB_BYTES);
    const within = at + done - index * SLAB_BYTES;
    const slab = slabAt(index);
    const count = Math.min(SLAB_BYTES - within, lengthBytes - done);
    if (!slab || slab.length < within + count) return undefined;
    whole.set(slab.subarray(within, within + count), done);
    done += count;
  }
  return whole;
}
