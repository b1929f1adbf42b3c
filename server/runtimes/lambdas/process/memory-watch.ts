import { ownMemoryMb } from '../../../system/processes.ts';
import { LambdaFailure } from '../lambda-failure.ts';
import { outOfMemory } from './exit-text.ts';
import type { LambdaProcess } from './lambda-process.ts';

/** Between two looks; memory is filled by a few hundred MB in that time. */
const INTERVAL_MS = 200;
/** Memory of Node itself, in addition to the lambda's limit. */
const RUNTIME_MB = 64;
/** Most garbage that a process may have that is too busy to throw it away. */
const GARBAGE_MB = 160;

/**
 * Limits the memory of processes. V8 limits the heap; buffers lie outside of it, and a lambda that fills them would take all
 * that the machine has. A process whose heap could hold more than the lambda may have is asked to throw its garbage away first: what
 * it still has then, it uses. Where the system does not show the memory of a process, the process reports it whenever it waits.
 */
export class MemoryWatch {
  readonly #processes = new Set<LambdaProcess>();
  readonly #pendingReads = new Map<LambdaProcess, boolean>();
  #timer: NodeJS.Timeout | undefined;

  add(process: LambdaProcess): void {
    this.#processes.add(process);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL_MS).unref();
    void process.exited.then(() => {
      this.#processes.delete(process);
      this.#pendingReads.delete(process);
      if (this.#processes.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    for (const process of this.#processes) {
      const usedMb = process.reportedMb ?? (process.pid === undefined ? undefined : ownMemoryMb(process.pid));
      if (usedMb === undefined) continue;
      const overMb = usedMb - process.memoryMb - RUNTIME_MB;
      if (overMb > 0 && this.#isOver(process, overMb)) {
        process.kill(new LambdaFailure('crash', outOfMemory(process.memoryMb)));
      } else if (overMb <= 0 && this.#pendingReads.get(process)) this.#pendingReads.delete(process);
    }
  }

  #isOver(process: LambdaProcess, overMb: number): boolean {
    if (!process.isRoomy || overMb > GARBAGE_MB) return true;
    const isCollected = this.#pendingReads.get(process);
    if (isCollected) this.#pendingReads.delete(process);
    if (isCollected === undefined) {
      this.#pendingReads.set(process, false);
      void process.collectGarbage().then(() => this.#processes.has(process) && this.#pendingReads.set(process, true));
    }
    return isCollected === true;
  }
}
