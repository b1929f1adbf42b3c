import { constants } from 'node:os';
import type { Terminal } from './terminal.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves to the name of the first signal that asks the process to stop. A second one ends it at once, with the exit code
 * by which shells know a signal (130 for SIGINT, 143 for SIGTERM).
 */
export function untilStopSignal(terminal: Pick<Terminal, 'signals' | 'exit'>): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of STOP_SIGNALS) {
      terminal.signals.on(signal, () => {
        if (isStopping) terminal.exit(128 + constants.signals[signal]);
        isStopping = true;
        resolve(signal);
      });
    }
  });
}
