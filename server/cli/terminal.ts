import type { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { styleText } from 'node:util';

const ASK_TIMEOUT_MS = 600_000;

/** The process that runs a command, as a parameter, so that tests can replace it. */
export interface Terminal {
  /** Writes lines to standard output, with control characters escaped (see `toTextView`). */
  print(lines: string): void;
  /** Writes lines to standard error, likewise. */
  complain(lines: string): void;
  /** Writes a document to standard output: unchanged to a file or a pipe, escaped to a screen. */
  printDocument(text: string): void;
  readInput(): Promise<string>;
  /** Prompts the user. @param options.isHidden does not echo the input */
  ask(question: string, options?: { isHidden?: boolean }): Promise<string>;
  /** Calls `onKey` for each pressed key, without Enter, until the returned function is called. Ctrl+C is a signal as before. */
  readKeys(onKey: (key: string) => void): () => void;
  signals: EventEmitter;
  /** Ends the process at once. */
  exit(code: number): void;
  /** Monotonic clock. */
  nowMs(): number;
  env: Readonly<Record<string, string | undefined>>;
  folder: string;
  pid: number;
  /** Such as `20.19.0`. */
  nodeVersion: string;
  hasColour: boolean;
  /** True if standard input is a terminal. Then its Ctrl+C reaches child processes, too. */
  isInteractive: boolean;
}

/** The terminal of this process. Colour only on a screen, and never against NO_COLOR. */
export function processTerminal(): Terminal {
  // The reader of a pipe may end early (`terrarium | head`); that is not an error.
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
    readKeys: (onKey) => readKeys(process.stdin, onKey),
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

/** The writing methods of a terminal, for any two streams. */
export function writersTo(
  out: Pick<NodeJS.WritableStream, 'write'>,
  err: Pick<NodeJS.WritableStream, 'write'>,
  { isScreen, hasColour }: { isScreen: boolean; hasColour: boolean },
): Pick<Terminal, 'print' | 'complain' | 'printDocument'> {
  const print = (lines: string) => out.write(`${toTextView(lines, { hasColour })}\n`);
  return {
    print,
    complain: (lines) => err.write(`${toTextView(lines, { hasColour })}\n`),
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

type KeyInput = NodeJS.ReadableStream & { setRawMode(mode: boolean): unknown };

/** Reads single keys of a terminal until the returned function is called. */
export function readKeys(stdin: KeyInput, onKey: (key: string) => void): () => void {
  // In this mode the terminal sends Ctrl+C as a character.
  const onText = (text: string) => {
    for (const key of text) {
      if (key === '\u0003') process.emit('SIGINT', 'SIGINT');
      else onKey(key);
    }
  };
  stdin.setRawMode(true);
  // A stream that was paused before does not go on by itself.
  stdin.setEncoding('utf8').on('data', onText).resume();
  return () => {
    stdin.off('data', onText);
    stdin.pause();
    stdin.setRawMode(false);
  };
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';

export function styled(terminal: Pick<Terminal, 'hasColour'>, style: Style, text: string): string {
  return terminal.hasColour ? styleText(style, text, { validateStream: false }) : text;
}

export function printLines(lines: Iterable<string>, terminal: Pick<Terminal, 'print'>): void {
  for (const line of lines) terminal.print(onOneLine(line));
}

export function rowLines(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  const cleanRows = rows.map((row) => row.map(onOneLine));
  for (const row of cleanRows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return cleanRows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Control characters, bidirectional control characters, and Unicode line separators. */
const ACTING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
/** Matches the part after ESC of bold, dim and colors of the text except black, and their ends, which do no harm. */
export const STYLE = /\[(?:(?:0|1|2|22|39|3[1-7]|9[0-7])(?:;|(?=m))){0,4}m/;
const STYLE_HERE = new RegExp(STYLE, 'y');

/** Escapes characters that control the terminal as JSON does (`\u001b`), so that JSON stays valid. Other users wrote much of the text. */
export function toTextView(text: string, { hasColour }: { hasColour: boolean }): string {
  return text.replace(ACTING, (sign, at: number) => {
    if (sign === '\n' || sign === '\t') return sign;
    STYLE_HERE.lastIndex = at + 1;
    if (hasColour && sign === '\u001b' && STYLE_HERE.test(text)) return sign;
    return escaped(sign);
  });
}

export function onOneLine(text: string): string {
  return text.replaceAll('\n', escaped);
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
