import { type Config, configSchema, type Setting, settings, valueAt } from '../../server/platform/config-schema.ts';
import { logs } from '../../server/platform/declarations.ts';
import { fixedLimits } from './fixed-limits.ts';
import { amount, capital, code, groupsOf, table } from './markdown.ts';

const defaults: Config = configSchema.parse({});

/** Defaults that depend on the machine. */
const OF_MACHINE: Readonly<Record<string, string>> = { 'limits.lambdaProcessesInAll': 'from memory and cores' };

/** All settings: those of the platform, then each group of keys. */
export function allSettings(): string {
  const groups = groupsOf(settings, ({ path }) => (path.length > 1 ? String(path[0]) : 'general'));
  return [...groups]
    .map(([name, members]) => `## ${capital(name)}\n\n${table(HEAD, members.map(settingRow))}`)
    .join('\n\n');
}

const HEAD = ['flag', 'variable', 'key', 'default', 'values', 'meaning'];

function settingRow(setting: Setting): string[] {
  const { flag, env, key, expected, description } = setting;
  return [code(flag), code(env), code(key), defaultOf(setting), expected, description];
}

function defaultOf({ key, path }: Setting): string {
  const value = valueAt(defaults, path);
  if (OF_MACHINE[key] !== undefined) return OF_MACHINE[key];
  if (typeof value === 'number') return amount(value, key);
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return code(String(value));
}

/** The limits that settings change, and those that are fixed. */
export function allLimits(): string {
  const changeable = settings.filter(
    ({ key }) => /^(limits\.|history\.|records\.|containers\.\w+TimeoutS$)/.test(key) && key !== 'records.keep',
  );
  const rows = changeable.map((setting) => [setting.description, defaultOf(setting), code(setting.flag)]);
  const storedLogs = [...logs].flatMap(([name, { caps }]) =>
    caps ? [[code(`${name}.jsonl`), String(caps.maxItems), amount(caps.maxBytes, 'bytes')]] : [],
  );
  return [
    '## Limits that you can change',
    table(['limit', 'default', 'setting'], rows),
    '## Fixed limits',
    fixedLimits(),
    '## Logs in the data folder',
    'When a log has more items or bytes, the oldest items are removed.',
    table(['file', 'items', 'size'], storedLogs),
  ].join('\n\n');
}
