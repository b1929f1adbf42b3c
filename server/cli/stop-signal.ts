import { constants } from 'node:os';
import type { Terminal } from './terminal.ts';

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** npm repeats a signal that the terminal has sent, and ends when the terminal is closed: signals within this time count as one. */
const SAME_SIGNAL_MS = 2_000;

/** Resolves to the first signal that asks the process to stop. A second one ends it at once, with the exit code of shells (130 for SIGINT). */
export function untilStopSignal(terminal: Pick<Terminal, 'signals' | 'exit' | 'nowMs'>): Promise<StopSignal> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    for (const signal of STOP_SIGNALS) {
      terminal.signals.on(signal, () => {
        firstAtMs ??= terminal.nowMs();
        if (terminal.nowMs() - firstAtMs > SAME_SIGNAL_MS) terminal.exit(128 + constants.signals[signal]);
        resolve(signal);
      });
    }
  });
}
