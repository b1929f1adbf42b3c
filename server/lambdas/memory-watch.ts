import { readFileSync } from 'node:fs';
import { outOfMemory } from './exit-text.ts';
import { LambdaFailure } from './lambda-failure.ts';
import type { LambdaProcess } from './lambda-process.ts';

/** Between two looks; memory is filled by a few hundred MB in that time. */
const INTERVAL_MS = 200;
/** What Node itself takes, on top of what the lambda may have. */
const RUNTIME_MB = 64;

/**
 * Holds processes to their memory. V8 holds the heap; buffers lie outside of it, and a lambda that fills them would take all
 * that the machine has. Works where there is `/proc`.
 */
export class MemoryWatch {
  readonly #processes = new Set<LambdaProcess>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches a process until its end. */
  add(process: LambdaProcess): void {
    this.#processes.add(process);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL_MS).unref();
    void process.exited.then(() => {
      this.#processes.delete(process);
      if (this.#processes.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  #look(): void {
    for (const process of this.#processes) {
      const usedMb = process.pid === undefined ? undefined : ownMemoryMb(process.pid);
      if (usedMb !== undefined && usedMb > process.memoryMb + RUNTIME_MB) {
        process.kill(new LambdaFailure('crash', outOfMemory(process.memoryMb)));
      }
    }
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
