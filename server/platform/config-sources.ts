import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError, validateConfig } from './config.ts';
import type { Config } from './config-schema.ts';
import { isObject, settings, valueAt } from './config-settings.ts';

const FILE = 'terrarium.json';

/** The sources of settings, by precedence: flags, environment, terrarium.json. */
export interface ConfigSources {
  /** Setting key (such as `basePort`, `limits.logLines`) to the text on the command line; true or false for a switch. */
  flags: Readonly<Record<string, string | boolean>>;
  /** Variables `TERRARIUM_...`; an empty one counts as not set. */
  env: Readonly<Record<string, string | undefined>>;
  /** The working folder: the base of relative paths in flags and variables. */
  folder: string;
  /** The folder of terrarium.json and of the default data folder; by default the working folder. */
  project?: string;
}

/** The configuration, and the origin of each setting's value: a flag, a variable, `terrarium.json` or `default`. */
export interface ConfigWithOrigins {
  config: Config;
  origins: ReadonlyMap<string, string>;
}

/**
 * Reads the configuration, each setting from flags > environment > terrarium.json > defaults. Paths in
 * terrarium.json and the default data folder are relative to the project folder.
 *
 * @throws UserError naming the flag, variable or key of each invalid value
 */
export function readConfig({ flags, env, folder, project = folder }: ConfigSources): ConfigWithOrigins {
  const inFile = readSettingsFile(project);
  let input: unknown = inFile;
  const origins = new Map<string, string>();
  for (const { key, path, flag, env: variable, fromText } of settings) {
    const written = [
      { origin: flag, text: flags[key] },
      { origin: variable, text: env[variable] || undefined },
    ].find(({ text }) => text !== undefined);
    if (written?.text !== undefined) {
      input = withValueAt(input, path, typeof written.text === 'string' ? fromText(written.text) : written.text);
    }
    origins.set(key, written?.origin ?? (valueAt(inFile, path) === undefined ? 'default' : FILE));
  }
  const placeOfKey = (key: string) => {
    const origin = origins.get(key) ?? FILE;
    return origin === FILE ? `${key} in ${FILE}` : origin;
  };
  const folderOfKey = (key: string) => (['default', FILE].includes(origins.get(key) ?? FILE) ? project : folder);
  return { config: validateConfig(input, folderOfKey, placeOfKey), origins };
}

function readSettingsFile(folder: string): object {
  const file = join(folder, FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw new UserError(`${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new UserError(`${file} is not valid JSON: ${reasonOf(cause)}`, { cause });
  }
  if (!isObject(content)) throw new UserError(`${file} is not a JSON object of settings`);
  const { $schema: _, ...fileSettings } = content; // for editors
  return fileSettings;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** A copy with the value set; a value on the path that is not an object stays, and the schema rejects it. */
function withValueAt(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (target !== undefined && !isObject(target)) return target;
  return { ...target, [name]: withValueAt(target?.[name], rest, value) };
}
