import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { isLoopbackHost } from '../plugin/reachable-url.ts';
import {
  type Config,
  configSchema,
  IN_MEMORY,
  isObject,
  type StartOptions,
  settings,
  valueAt,
} from './config-schema.ts';
import { listeners } from './declarations.ts';

/** The root password of earlier versions of Terrarium (D-220). */
const PUBLISHED_ROOT_PASSWORD = 'terrarium';

/** An error that the user can correct; its message says what failed, why, and what to do. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/**
 * Validates settings and fills in the defaults.
 *
 * @param input unvalidated settings
 * @param folderOfKey returns the base of a relative path in a setting
 * @param placeOfKey names the origin of a setting for messages; takes its key, such as `limits.logLines`
 * @throws UserError with one line for each invalid setting
 */
function validateConfig(
  input: unknown,
  folderOfKey: (key: string) => string,
  placeOfKey: (key: string) => string,
): Config {
  // Used once per process: compiling the schema takes longer than interpreting it.
  const result = configSchema.safeParse(input, { jitless: true });
  if (!result.success) {
    const sentences = result.error.issues.flatMap((issue) => complaints(issue, input, placeOfKey));
    throw new UserError([...new Set(sentences)].join('\n'));
  }
  const config = result.data;
  if (!isLoopbackHost(config.host) && [undefined, PUBLISHED_ROOT_PASSWORD].includes(config.rootPassword)) {
    throw new UserError(
      `${placeOfKey('host')} is '${config.host}', which other machines can reach, but no password of root is set, or one that everyone knows. Set a password with --root-password or TERRARIUM_ROOT_PASSWORD.`,
    );
  }
  if ((config.rootApiKey === undefined) !== (config.rootApiSecret === undefined)) {
    const [present, missing] = config.rootApiKey ? ['rootApiKey', 'rootApiSecret'] : ['rootApiSecret', 'rootApiKey'];
    throw new UserError(`${placeOfKey(present)} is set but ${missing} is not. Set both or neither.`);
  }
  const ports = listeners.map(({ port }) => config[port]).filter((port) => port !== 0);
  if (new Set(ports).size < ports.length) {
    const nouns = new Intl.ListFormat('en').format(listeners.map(({ noun }) => noun));
    throw new UserError(`the ports of ${nouns} must differ, but are ${ports.join(', ')}. Set 0 to choose a free port.`);
  }
  const absolute = (key: string, path: string) => resolve(folderOfKey(key), path);
  return {
    ...config,
    data: config.data === IN_MEMORY ? IN_MEMORY : absolute('data', config.data),
    seed: config.seed === 'demo' || config.seed === 'empty' ? config.seed : absolute('seed', config.seed),
    readyFile: config.readyFile && absolute('readyFile', config.readyFile),
    allowedHostPaths: config.allowedHostPaths.map((path) => absolute('allowedHostPaths', path)),
  };
}

/** Settings for code, such as a test suite: in memory, free ports, no window, no calls out. Reads neither environment nor file. Throws UserError. */
export function completeOptions(options: StartOptions): Config {
  const outbound = { default: 'block', ...options.outbound };
  const input = { headless: true, basePort: 0, gatewayPort: 0, data: IN_MEMORY, ...options, outbound };
  return validateConfig(
    input,
    () => process.cwd(),
    (key) => `option ${key}`,
  );
}

function complaints(issue: z.core.$ZodIssue, input: unknown, placeOfKey: (key: string) => string): string[] {
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => [...issue.path, key].join('.'));
    return keys.map((key) => `${placeOfKey(key)} is not a setting. For all settings, see \`${SHELL_COMMAND} config\`.`);
  }
  const setting = settings.find(({ path }) => path.every((part, at) => part === issue.path[at]));
  if (!setting) return [`${placeOfKey(issue.path.join('.'))} must be an object of settings`];
  const actualText = setting.isSecret ? '' : ` is ${JSON.stringify(valueAt(input, setting.path))};`;
  return [`${placeOfKey(setting.key)}${actualText} ${actualText && 'it '}must be ${setting.expected}`];
}

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
