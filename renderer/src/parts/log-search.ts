import { reasonOf } from '../../../server/model/reason.ts';
/** What is looked for in a log: an expression, or what is wrong with it; undefined: nothing. */
export type LogSearch = { expression: RegExp } | { fault: string } | undefined;

/** Reads what was typed: a text that is taken as it stands, or a regular expression; capitals do not matter. */
export function logSearch(text: string, isRegex: boolean): LogSearch {
  if (text === '') return undefined;
  try {
    return { expression: new RegExp(isRegex ? text : literal(text), 'gi') };
  } catch (failure) {
    return { fault: reasonOf(failure) };
  }
}

/** A text as an expression that finds just that. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** A part of a line, found or not. */
export interface LinePart {
  text: string;
  isFound: boolean;
  /** Offset in the line. */
  at: number;
}

/** What lies beyond is not looked through: a line that long is no text to read. */
const MAX_CHARACTERS = 5_000;

/** A line in parts, in order; all of it is there. */
export function partsOf(line: string, expression: RegExp): LinePart[] {
  const parts: LinePart[] = [];
  let end = 0;
  for (const { index, 0: found } of line.slice(0, MAX_CHARACTERS).matchAll(expression)) {
    if (found === '') continue; // `x*` is everywhere
    if (index > end) parts.push({ text: line.slice(end, index), isFound: false, at: end });
    parts.push({ text: found, isFound: true, at: index });
    end = index + found.length;
  }
  if (end < line.length || parts.length === 0) parts.push({ text: line.slice(end), isFound: false, at: end });
  return parts;
}

/** Where the expression is found: how often, and the places of the lines in which it is. */
export interface Found {
  count: number;
  lines: readonly number[];
}

export function findIn(lines: readonly { text: string }[], expression: RegExp): Found {
  let count = 0;
  const found: number[] = [];
  for (const [index, { text }] of lines.entries()) {
    let inLine = 0;
    for (const { 0: part } of text.slice(0, MAX_CHARACTERS).matchAll(expression)) if (part !== '') inLine += 1;
    if (inLine > 0) found.push(index);
    count += inLine;
  }
  return { count, lines: found };
}
