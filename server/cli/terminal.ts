import type { EventEmitter } from 'node:events';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';

/** What a command sees of the process that runs it; handed in, so that a test can be one. */
export interface Terminal {
  /** Writes a line to standard output. */
  print(line: string): void;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Emits `SIGINT`, `SIGTERM`, `SIGHUP`. */
  signals: EventEmitter;
  /** Ends the process at once. */
  exit(code: number): void;
  /** A clock that only goes forward. */
  nowMs(): number;
  env: Readonly<Record<string, string | undefined>>;
  /** The working directory. */
  folder: string;
  pid: number;
  hasColour: boolean;
  /** Does a person sit at it? Then its Ctrl+C reaches our children, too. */
  isInteractive: boolean;
}

/** The terminal of this process. Colour only on a screen, and never against NO_COLOR. */
export function processTerminal(): Terminal {
  // The reader of a pipe may go away (`terrarium | head`): what is then written is lost, and that is all.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    complain: (line) => process.stderr.write(`${line}\n`),
    readInput: () => text(process.stdin),
    signals: process,
    exit: (code) => process.exit(code),
    nowMs: () => performance.now(),
    env: process.env,
    folder: process.cwd(),
    pid: process.pid,
    hasColour: process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb',
    isInteractive: process.stdin.isTTY === true,
  };
}

/** The text in a style, where there is colour. */
export function styled(terminal: Pick<Terminal, 'hasColour'>, style: 'bold' | 'dim' | 'green', text: string): string {
  return terminal.hasColour ? styleText(style, text, { validateStream: false }) : text;
}

/** Prints lines as they come. */
export function printLines(lines: Iterable<string>, terminal: Pick<Terminal, 'print'>): void {
  for (const line of lines) terminal.print(line);
}

/** Prints rows of cells in columns. */
export function printRows(terminal: Pick<Terminal, 'print'>, rows: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  for (const row of rows)
    terminal.print(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
