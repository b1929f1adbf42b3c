import type { Command } from 'commander';
import { settings, shownValue } from '../config-settings.ts';
import type { ConfigWithOrigins } from '../config-sources.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { printAnswer } from './print-answer.ts';
import { styled, type Terminal } from './terminal.ts';

/** `terrarium config`: prints each setting, its value and where it came from. Takes the flags of `start`, to try them. */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('config')
    .description('print every setting, its value and where it came from')
    .option('--json', 'as JSON: {key: {value, origin}}');
  addConfigOptions(command).action(() => {
    const found = configOf(command, terminal);
    printAnswer(command, terminal, Object.fromEntries(rows(found)), () => printTable(rows(found), terminal));
  });
}

type Row = [key: string, { value: unknown; origin: string }];

function rows({ config, origins }: ConfigWithOrigins): Row[] {
  return settings.map((setting) => [
    setting.key,
    { value: shownValue(setting, config) ?? null, origin: origins.get(setting.key) ?? 'default' },
  ]);
}

function printTable(table: readonly Row[], terminal: Terminal): void {
  const lines = table.map(([key, { value, origin }]) => [key, textOf(value), origin] as const);
  const width = (column: 0 | 1) => Math.max(...lines.map((line) => line[column].length));
  const widths = [width(0), width(1)] as const;
  for (const [key, value, origin] of lines) {
    const where = origin === 'default' ? styled(terminal, 'dim', origin) : styled(terminal, 'green', origin);
    terminal.print(`${key.padEnd(widths[0])}  ${value.padEnd(widths[1])}  ${where}`);
  }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') || '-' : String(value ?? '-');
}
