import { writeFileSync } from 'node:fs';

/** A row of the table: the measurement, the comparison, and the goal. */
export interface Line {
  what: string;
  measured: number;
  unit: string;
  /** What it is compared with, in the same unit. */
  beside?: { name: string; measured: number };
  goal?: { atLeast?: number; atMost?: number };
}

/** The figure that the goal is about: the ratio where there is something to compare with. */
function compared({ measured, beside }: Line): number {
  return beside ? measured / beside.measured : measured;
}

function isMissed(line: Line): boolean {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = line.goal ?? {};
  const figure = compared(line);
  return !(figure >= atLeast && figure <= atMost);
}

function shown(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toFixed(1)}k` : value.toFixed(value < 10 ? 1 : 0);
}

/** Prints lines with their ratios and goals, then those whose goal is missed; and writes them to a file for joined tables. */
export function printLines(lines: readonly Line[]): void {
  if (process.env.BENCH_LINES !== undefined) writeFileSync(process.env.BENCH_LINES, JSON.stringify(lines));
  const rows = lines.map((line) => [
    line.what,
    `${shown(line.measured)} ${line.unit}`,
    line.beside ? `${compared(line).toFixed(2)} x ${line.beside.name} (${shown(line.beside.measured)})` : '',
    line.goal ? `${isMissed(line) ? 'MISSED' : 'held'}: ${goalOf(line)}` : '',
  ]);
  printTable(['', 'Terrarium', 'beside', 'goal'], rows);
  const missed = lines.filter((line) => line.goal && isMissed(line));
  const count = lines.filter(({ goal }) => goal).length;
  console.log(`\n${count - missed.length} of ${count} goals held${missed.length > 0 ? '; missed:' : ''}`);
  for (const line of missed) console.log(`  ${line.what}: ${compared(line).toFixed(2)}, ${goalOf(line)}`);
}

function goalOf({ goal, beside, unit }: Line): string {
  const what = beside ? 'x' : ` ${unit}`;
  return goal?.atLeast === undefined ? `at most ${goal?.atMost}${what}` : `at least ${goal.atLeast}${what}`;
}

/** Columns as wide as what is in them. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  for (const row of all)
    console.log(
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
