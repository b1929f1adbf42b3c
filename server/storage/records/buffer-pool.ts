export const SLAB_BYTES = 256 * 1024;
const MIN_SLABS = 8;

export interface SlabHolder {
  readonly slabs: number;
  /** Releases the oldest slab; undefined if all are needed. */
  giveUp(): Buffer | undefined;
}

/** Slabs within one budget for all users; if it is used up, the largest user gives up its oldest. The counted memory is the real one. */
export class BufferPool {
  readonly #maxSlabs: number;
  readonly #holders: SlabHolder[] = [];
  #slabCount = 0;

  constructor(budgetBytes: number) {
    this.#maxSlabs = Math.max(MIN_SLABS, Math.floor(budgetBytes / SLAB_BYTES));
  }

  get sizeBytes(): number {
    return this.#slabCount * SLAB_BYTES;
  }

  get budgetBytes(): number {
    return this.#maxSlabs * SLAB_BYTES;
  }

  join(holder: SlabHolder): void {
    this.#holders.push(holder);
  }

  take(): Buffer {
    if (this.#slabCount >= this.#maxSlabs) {
      for (const holder of [...this.#holders].sort((a, b) => b.slabs - a.slabs)) {
        const slab = holder.giveUp();
        if (slab) return slab;
      }
    }
    this.#slabCount += 1;
    // Memory outside the heap that V8 counts triggers garbage collections, repeatedly if invocations have large bodies; it does not count
    // shared memory. These slabs never become garbage.
    return Buffer.from(new SharedArrayBuffer(SLAB_BYTES));
  }
}
