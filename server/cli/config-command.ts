import { settings, toValueView } from '../platform/config-schema.ts';
import { defineCommand, json } from './command.ts';
import { configOf, settingOptions } from './config-options.ts';
import { rowLines, styled } from './terminal.ts';

export const configCommand = defineCommand({
  name: 'config',
  description: 'print every setting, its value and its source',
  options: { json: json('print JSON: {key: {value, origin}}'), ...settingOptions },
  run({ options, terminal, print }) {
    const { config, origins } = configOf(options, terminal);
    const rows = settings.map((setting) => ({
      key: setting.key,
      value: toValueView(setting, config) ?? null,
      origin: origins.get(setting.key) ?? 'default',
    }));
    const cells = rows.map(({ key, value, origin }) => [
      key,
      textOf(value),
      styled(terminal, origin === 'default' ? 'dim' : 'green', origin),
    ]);
    print(Object.fromEntries(rows.map(({ key, ...row }) => [key, row])), rowLines(cells));
  },
});

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') || '-' : String(value ?? '-');
}
