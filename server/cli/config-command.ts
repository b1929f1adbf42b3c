import type { ConfigWithOrigins } from '../platform/config.ts';
import { settings, toValueView } from '../platform/config-schema.ts';
import { defineCommand, json } from './command.ts';
import { configOf, settingOptions } from './config-options.ts';
import { rowLines, styled } from './terminal.ts';

export const configCommand = defineCommand({
  name: 'config',
  description: 'print every setting, its value and its source',
  options: { json: json('print JSON: {key: {value, origin}}'), ...settingOptions },
  run({ options, terminal, print }) {
    const found = rows(configOf(options, terminal));
    const cells = found.map(([key, { value, origin }]) => [
      key,
      textOf(value),
      styled(terminal, origin === 'default' ? 'dim' : 'green', origin),
    ]);
    print(Object.fromEntries(found), rowLines(cells));
  },
});

type Row = [key: string, { value: unknown; origin: string }];

function rows({ config, origins }: ConfigWithOrigins): Row[] {
  return settings.map((setting) => [
    setting.key,
    { value: toValueView(setting, config) ?? null, origin: origins.get(setting.key) ?? 'default' },
  ]);
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') || '-' : String(value ?? '-');
}
