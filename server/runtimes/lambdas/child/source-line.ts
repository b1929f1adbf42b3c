import { readFileSync } from 'node:fs';

const LONGEST = 120;

/** A line of a source, counted from 1, as a message quotes it; empty when there is none. */
export function sourceLine(file: string, line: number): string {
  try {
    return (readFileSync(file, 'utf8').split('\n')[line - 1] ?? '').trim().slice(0, LONGEST);
  } catch {
    return '';
  }
}
