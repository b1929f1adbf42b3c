import type { RE2JS } from 're2js';

/** Finds parts of a text; RE2JS for an expression that the user typed. */
export type LogExpression = RegExp | RE2JS;

/** A text as an expression that finds just that. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** A part of a line, found or not. */
export interface LinePart {
  text: string;
  isFound: boolean;
  at: number;
}

/** The length up to which a line is searched: a longer line is not a text to read. */
const MAX_CHARACTERS = 5_000;

function* matchesIn(line: string, expression: LogExpression): Generator<{ index: number; 0: string }> {
  const text = line.slice(0, MAX_CHARACTERS);
  if (expression instanceof RegExp) return yield* text.matchAll(expression);
  const matcher = expression.matcher(text);
  while (matcher.find()) yield { index: matcher.start(), 0: matcher.group() ?? '' };
}

/** A line in parts, in order; all of it is there. */
export function partsOf(line: string, expression: LogExpression): LinePart[] {
  const parts: LinePart[] = [];
  let end = 0;
  for (const { index, 0: found } of matchesIn(line, expression)) {
    if (found === '') continue; // `x*` is everywhere
    if (index > end) parts.push({ text: line.slice(end, index), isFound: false, at: end });
    parts.push({ text: found, isFound: true, at: index });
    end = index + found.length;
  }
  if (end < line.length || parts.length === 0) parts.push({ text: line.slice(end), isFound: false, at: end });
  return parts;
}

/** The matches of an expression: their number, and the indexes of the lines that contain them. */
export interface Found {
  count: number;
  lines: readonly number[];
}

export function findIn(lines: readonly { text: string }[], expression: LogExpression): Found {
  let count = 0;
  const found: number[] = [];
  for (const [index, { text }] of lines.entries()) {
    let inLine = 0;
    for (const { 0: part } of matchesIn(text, expression)) if (part !== '') inLine += 1;
    if (inLine > 0) found.push(index);
    count += inLine;
  }
  return { count, lines: found };
}
