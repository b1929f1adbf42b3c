export const SLAB_BYTES = 256 * 1024;
/** Less than that is no memory to work with. */
const MIN_SLABS = 8;

/** Somebody who holds slabs, the oldest first. */
export interface SlabHolder {
  readonly slabs: number;
  /** Lets go of its oldest one; undefined when it needs all that it has. */
  giveUp(): Buffer | undefined;
}

/**
 * Memory in pieces of SLAB_BYTES that are used again and again, within one budget for all who need some: when that is used up,
 * whoever holds most gives up its oldest piece. What it counts is what it holds, since nothing else is kept of what is in them.
 */
export class SlabPool {
  readonly #maxSlabs: number;
  readonly #holders: SlabHolder[] = [];
  #made = 0;

  constructor(budgetBytes: number) {
    this.#maxSlabs = Math.max(MIN_SLABS, Math.floor(budgetBytes / SLAB_BYTES));
  }

  get sizeBytes(): number {
    return this.#made * SLAB_BYTES;
  }

  get budgetBytes(): number {
    return this.#maxSlabs * SLAB_BYTES;
  }

  join(holder: SlabHolder): void {
    this.#holders.push(holder);
  }

  take(): Buffer {
    if (this.#made >= this.#maxSlabs) {
      for (const holder of [...this.#holders].sort((a, b) => b.slabs - a.slabs)) {
        const given = holder.giveUp();
        if (given) return given;
      }
    }
    this.#made += 1;
    // What V8 counts of memory outside its heap makes it collect garbage, again and again where calls have large bodies; shared
    // memory it does not count. These slabs are never garbage.
    return Buffer.from(new SharedArrayBuffer(SLAB_BYTES));
  }
}
