import { readFileSync } from 'node:fs';
import { outOfMemory } from './exit-text.ts';
import { LambdaFailure } from './lambda-failure.ts';
import type { LambdaProcess } from './lambda-process.ts';

/** Between two looks; memory is filled by a few hundred MB in that time. */
const INTERVAL_MS = 200;
/** What Node itself takes, on top of what the lambda may have. */
const RUNTIME_MB = 64;
/** Most garbage that a process may have that is too busy to throw it away. */
const GARBAGE_MB = 160;

/**
 * Holds processes to their memory. V8 holds the heap; buffers lie outside of it, and a lambda that fills them would take all
 * that the machine has. A process whose heap could hold more than the lambda may have is asked to throw its garbage away first: what
 * it still has then, it holds. Works where there is `/proc`.
 */
export class MemoryWatch {
  readonly #processes = new Set<LambdaProcess>();
  /** Those that have been asked to throw their garbage away, and whether they have. */
  readonly #asked = new Map<LambdaProcess, boolean>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches a process until its end. */
  add(process: LambdaProcess): void {
    this.#processes.add(process);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL_MS).unref();
    void process.exited.then(() => {
      this.#processes.delete(process);
      this.#asked.delete(process);
      if (this.#processes.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    for (const process of this.#processes) {
      const usedMb = process.pid === undefined ? undefined : ownMemoryMb(process.pid);
      if (usedMb === undefined) continue;
      const overMb = usedMb - process.memoryMb - RUNTIME_MB;
      if (overMb > 0 && this.#holdsThat(process, overMb)) {
        process.kill(new LambdaFailure('crash', outOfMemory(process.memoryMb)));
      } else if (overMb <= 0 && this.#asked.get(process)) this.#asked.delete(process);
    }
  }

  /** Is it more than garbage that it has too much? */
  #holdsThat(process: LambdaProcess, overMb: number): boolean {
    if (!process.isRoomy || overMb > GARBAGE_MB) return true;
    const isCollected = this.#asked.get(process);
    if (isCollected) this.#asked.delete(process);
    if (isCollected === undefined) {
      this.#asked.set(process, false);
      void process.collectGarbage().then(() => this.#processes.has(process) && this.#asked.set(process, true));
    }
    return isCollected === true;
  }
}

/** Memory that a process has for itself alone, without files that it shares; undefined where that cannot be told. */
function ownMemoryMb(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
