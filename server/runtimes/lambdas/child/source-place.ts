import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isPlatformFrame } from '../../../model/failed-call.ts';

const CHECK_TIMEOUT_MS = 5_000;
const LONGEST = 120;
/** A line of a stack that names a place in a file. */
const FRAME = /^\s+at .*:\d+:\d+\)?$/;

/** A line of a source, counted from 1, as a message quotes it; empty when there is none. */
export function sourceLine(file: string, line: number): string {
  try {
    return (readFileSync(file, 'utf8').split('\n')[line - 1] ?? '').trim().slice(0, LONGEST);
  } catch {
    return '';
  }
}

/** The position of a syntax error: `file` as a name without folders, `line` and `column` counted from 1. */
export interface SyntaxErrorPlace {
  file: string;
  line: number;
  column: number;
}

/** Returns whether an error is about JavaScript source. Code that runs throws such errors, too, as JSON.parse does, and so does Node for a package.json. */
export function isOfSource(error: unknown): error is SyntaxError {
  if (!(error instanceof SyntaxError)) return false;
  const stack = error.stack ?? '';
  if (placeIn(stack)) return true;
  const isOfRunningCode = stack.split('\n').some((line) => FRAME.test(line) && !isPlatformFrame(line));
  return !stack.startsWith('node:') && !isOfRunningCode;
}

export function placeOfSyntaxError(error: SyntaxError, file: string): SyntaxErrorPlace | undefined {
  return placeIn(error.stack) ?? placeIn(check(file)?.replace(/^\[stdin\]/, file));
}

/** `syntax error in index.js, line 2, column 7` */
export function reportedPlace({ file, line, column }: SyntaxErrorPlace): string {
  return `syntax error in ${file}, line ${line}, column ${column}`;
}

/** Reads the text that Node puts in front of the stack of a syntax error: `file:line`, that line, and blanks up to the error in it. */
export function placeIn(stack: string | undefined): SyntaxErrorPlace | undefined {
  const [, file, line, indent] = /^(?!node:)(.+):(\d+)\n.*\n([^\S\n]*)(?:\^|\n)/.exec(stack ?? '') ?? [];
  if (file === undefined || indent === undefined) return undefined;
  return { file: basename(file), line: Number(line), column: indent.length + 1 };
}

/** For an ES module Node tells the place only when it prints the error itself. This is the way of failure: a second start is no matter. */
function check(file: string): string | undefined {
  // Here, not at the top: hardly any lambda needs it.
  const { spawnSync } = require('node:child_process') as typeof import('node:child_process');
  const { stderr } = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], {
    input: readFileSync(file),
    encoding: 'utf8',
    timeout: CHECK_TIMEOUT_MS,
    env: { ELECTRON_RUN_AS_NODE: '1' },
  });
  return stderr || undefined;
}
