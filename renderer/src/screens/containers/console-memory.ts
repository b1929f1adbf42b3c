import type { ExecOutcome } from '../../../../server/contract/containers.ts';
/** A command that was run, and what came of it: an outcome, or why there is none. */
export interface ConsoleEntry {
  key: number;
  command: string;
  durationMs: number;
  outcome?: ExecOutcome;
  failure?: string;
}

const MAX_ENTRIES = 100;

/** What was run in one container since the page was opened; it is there again when one comes back to its console. */
export class ConsoleMemory {
  #entries: readonly ConsoleEntry[] = [];
  #lastKey = 0;

  get entries(): readonly ConsoleEntry[] {
    return this.#entries;
  }

  /** Keeps the newest hundred; gives what is there then. */
  add(entry: Omit<ConsoleEntry, 'key'>): readonly ConsoleEntry[] {
    this.#entries = [...this.#entries, { ...entry, key: ++this.#lastKey }].slice(-MAX_ENTRIES);
    return this.#entries;
  }

  clear(): readonly ConsoleEntry[] {
    this.#entries = [];
    return this.#entries;
  }
}

const memories = new Map<string, ConsoleMemory>();

export function consoleOf(containerId: string): ConsoleMemory {
  const memory = memories.get(containerId) ?? new ConsoleMemory();
  memories.set(containerId, memory);
  return memory;
}
