import { writeFileSync } from 'node:fs';

/** A row of the table: the measurement, the comparison, and the goal. */
export interface Line {
  label: string;
  measured: number;
  unit: string;
  /** The measurement to compare with, in the same unit. */
  reference?: { name: string; measured: number };
  goal?: { atLeast?: number; atMost?: number };
}

/** The figure that the goal is about: the ratio where there is something to compare with. */
function compared({ measured, reference }: Line): number {
  return reference ? measured / reference.measured : measured;
}

function isMissed(line: Line): boolean {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = line.goal ?? {};
  const figure = compared(line);
  return !(figure >= atLeast && figure <= atMost);
}

function formatFigure(value: number): string {
  return value >= 1_000 ? `${(value / 1_000).toFixed(1)}k` : value.toFixed(value < 10 ? 1 : 0);
}

const HEAD = ['', 'Terrarium', 'beside', 'goal'];

function rowOf(line: Line): string[] {
  const { label, measured, unit, reference, goal } = line;
  return [
    label,
    `${formatFigure(measured)} ${unit}`,
    reference ? `${compared(line).toFixed(2)} x ${reference.name} (${formatFigure(reference.measured)})` : '',
    goal ? `${isMissed(line) ? 'MISSED' : 'held'}: ${goalOf(line)}` : '',
  ];
}

/** A page with the table of a run. @param origin the commit, date and machine of the run */
function figuresPage(lines: readonly Line[], origin: string): string {
  const rows = [HEAD, HEAD.map(() => '---'), ...lines.map(rowOf)].map((cells) => `| ${cells.join(' | ')} |`);
  return `# Figures\n\nWritten by \`npm run bench\`. [How to read them](README.md#how-to-read-it)\n\n${origin}\n\n${rows.join('\n')}\n`;
}

/**
 * Prints lines with their ratios and goals, then those whose goal is missed; and writes them to a file for joined tables.
 *
 * @param page a page to write, and where the figures come from
 */
export function printLines(lines: readonly Line[], page?: { file: string; origin: string }): void {
  if (page) writeFileSync(page.file, figuresPage(lines, page.origin));
  if (process.env.BENCH_LINES !== undefined) writeFileSync(process.env.BENCH_LINES, JSON.stringify(lines));
  printTable(HEAD, lines.map(rowOf));
  const missed = lines.filter((line) => line.goal && isMissed(line));
  const count = lines.filter(({ goal }) => goal).length;
  console.log(`\n${count - missed.length} of ${count} goals held${missed.length > 0 ? '; missed:' : ''}`);
  for (const line of missed) console.log(`  ${line.label}: ${compared(line).toFixed(2)}, ${goalOf(line)}`);
}

function goalOf({ goal, reference, unit }: Line): string {
  const unitSuffix = reference ? 'x' : ` ${unit}`;
  return goal?.atLeast === undefined ? `at most ${goal?.atMost}${unitSuffix}` : `at least ${goal.atLeast}${unitSuffix}`;
}

/** Prints columns that are as wide as their contents. */
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
