import type { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';
import { onOneLine, shownText } from './shown-text.ts';

/** How long a question stands. */
const ASK_TIMEOUT_MS = 600_000;

/** What a command sees of the process that runs it; handed in, so that a test can be one. */
export interface Terminal {
  /** Writes lines to standard output. Whatever is in them, none acts on the terminal (see `shownText`). */
  print(lines: string): void;
  /** Writes lines to standard error, likewise. */
  complain(lines: string): void;
  /** Writes a document to standard output: exactly as it is into a file or a pipe, like all else onto a screen. */
  printDocument(text: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** What whoever sits at it answers. @param options.isHidden nothing of it is shown */
  ask(question: string, options?: { isHidden?: boolean }): Promise<string>;
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
  /** Of Node.js, as in `20.19.0`. */
  nodeVersion: string;
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
  const isScreen = process.stdout.isTTY === true;
  const hasColour = isScreen && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return {
    ...writersTo(process.stdout, process.stderr, { isScreen, hasColour }),
    readInput: () => text(process.stdin),
    ask: (question, { isHidden = false } = {}) => askPerson(question, isHidden),
    signals: process,
    exit: (code) => process.exit(code),
    nowMs: () => performance.now(),
    env: process.env,
    folder: process.cwd(),
    pid: process.pid,
    nodeVersion: process.versions.node,
    hasColour,
    isInteractive: process.stdin.isTTY === true,
  };
}

/** How a terminal writes to two streams, be they those of this process or not. */
export function writersTo(
  out: Pick<NodeJS.WritableStream, 'write'>,
  err: Pick<NodeJS.WritableStream, 'write'>,
  { isScreen, hasColour }: { isScreen: boolean; hasColour: boolean },
): Pick<Terminal, 'print' | 'complain' | 'printDocument'> {
  const print = (lines: string) => out.write(`${shownText(lines, { hasColour })}\n`);
  return {
    print,
    complain: (lines) => err.write(`${shownText(lines, { hasColour })}\n`),
    printDocument: (text) => (isScreen ? print(text) : out.write(`${text}\n`)),
  };
}

async function askPerson(question: string, isHidden: boolean): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: isHidden ? nowhere : process.stderr, terminal: true });
  try {
    return await lines.question('', { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
  } finally {
    lines.close();
    if (isHidden) process.stderr.write('\n');
  }
}

/** The text in a style, where there is colour. */
export function styled(terminal: Pick<Terminal, 'hasColour'>, style: 'bold' | 'dim' | 'green', text: string): string {
  return terminal.hasColour ? styleText(style, text, { validateStream: false }) : text;
}

/** Prints lines as they come. */
export function printLines(lines: Iterable<string>, terminal: Pick<Terminal, 'print'>): void {
  for (const line of lines) terminal.print(onOneLine(line));
}

/** Rows of cells in columns, a line each. */
export function rowLines(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  const shown = rows.map((row) => row.map(onOneLine));
  for (const row of shown) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return shown.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
