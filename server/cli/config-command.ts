import type { Command } from 'commander';
import { settings, shownValue } from '../config-settings.ts';
import type { ConfigWithOrigins } from '../config-sources.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, rowLines, styled, type Terminal } from './terminal.ts';

/** `terrarium config`: prints each setting, its value and where it came from. Takes the flags of `start`, to try them. */
export function addConfigCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('config')
    .description('print every setting, its value and where it came from')
    .option('--json', 'as JSON: {key: {value, origin}}');
  addConfigOptions(command).action(() => {
    const found = configOf(command, terminal);
    printAnswer(command, terminal, Object.fromEntries(rows(found)), () => {
      const cells = rows(found).map(([key, { value, origin }]) => [
        key,
        textOf(value),
        styled(terminal, origin === 'default' ? 'dim' : 'green', origin),
      ]);
      printLines(rowLines(cells), terminal);
    });
  });
}

type Row = [key: string, { value: unknown; origin: string }];

function rows({ config, origins }: ConfigWithOrigins): Row[] {
  return settings.map((setting) => [
    setting.key,
    { value: shownValue(setting, config) ?? null, origin: origins.get(setting.key) ?? 'default' },
  ]);
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') || '-' : String(value ?? '-');
}
