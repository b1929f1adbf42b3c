import { join } from 'node:path';
import { type ConfigWithOrigins, readConfig, UserError } from '../platform/config.ts';
import { configSchema, settings, valueAt } from '../platform/config-schema.ts';
import { listeners } from '../platform/declarations.ts';
import { nearestFolderWith } from '../system/nearest-folder.ts';
import { type OptionSpec, text } from './command.ts';
import type { Terminal } from './terminal.ts';

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/i;

export const DATA_FOLDER = '.terrarium';
const PROJECT_NAMES = [DATA_FOLDER, 'terrarium.json'];

/** Folder of the named instances' data folders, relative to the project folder. */
const FOLDER = `${DATA_FOLDER}/instances`;

export const folderOptions = {
  data: text('--data <DIR>', 'data folder of the platform (default: .terrarium; TERRARIUM_DATA)'),
  instance: text('--instance <NAME>', `name of one of several instances; its data folder is ${FOLDER}/NAME`),
};

/** The data folder of the instance that `--instance` names; undefined without it. Throws UserError for an invalid name, or beside --data. */
function namedFolder(
  { instance: name, data }: { instance?: unknown; data?: unknown },
  folder: string,
): string | undefined {
  if (typeof name !== 'string') return undefined;
  if (!NAME.test(name)) {
    throw new UserError(
      `--instance is "${name}"; it must be up to 63 letters, digits, _ or -, and not begin with _ or -`,
    );
  }
  if (data !== undefined) throw new UserError('--instance and --data both select a data folder. Use only one of them.');
  return join(projectFolder(folder), FOLDER, name);
}

/** The nearest folder, from the working folder upward, with a data folder or a terrarium.json; by default the working folder. */
export function projectFolder(folder: string): string {
  return nearestFolderWith(PROJECT_NAMES, folder) ?? folder;
}

type Flag = string | boolean;
type Flags = Record<string, Flag>;

const defaults = configSchema.parse({}, { jitless: true });
export const settingOptions = {
  ...Object.fromEntries(
    settings.map(({ key, path, flag, placeholder, description, env }): [string, OptionSpec<Flag | undefined>] => {
      const value = valueAt(defaults, path);
      const isShown = typeof value === 'string' || typeof value === 'number';
      const notes = isShown ? `default: ${value}; ${env}` : env;
      const flags = placeholder ? `${flag} <${placeholder}>` : flag;
      const read = (written: unknown) =>
        typeof written === 'string' || typeof written === 'boolean' ? written : undefined;
      return [key, { flags, description: `${description} (${notes})`, read }];
    }),
  ),
  instance: folderOptions.instance,
};

/** Settings that let the system choose every port. */
export const freePorts: Flags = Object.fromEntries(listeners.map(({ port }) => [port, '0']));

/**
 * The configuration from the command's options, the environment and terrarium.json. A named instance has its own data folder and,
 * unless flags set them, free ports.
 *
 * @param presets values of the command that win over environment and terrarium.json, but not over flags
 * @param fallbacks values of the command that are used instead of the defaults
 * @param folder of the project, or below it
 * @throws UserError
 */
export function configOf(
  options: Readonly<Record<string, unknown>>,
  terminal: Pick<Terminal, 'env' | 'folder'>,
  presets: Flags = {},
  fallbacks: Flags = {},
  folder = terminal.folder,
): ConfigWithOrigins {
  const written = flagsOf(options);
  const data = namedFolder(options, folder);
  const named: Flags = data === undefined ? {} : { data, ...freePorts };
  const flags = { ...presets, ...named, ...written };
  const project = projectFolder(folder);
  const read = (readFlags: Flags) => readConfig({ ...terminal, flags: readFlags, project });
  const configured = read(flags);
  const { origins } = configured;
  const missing = Object.entries(fallbacks).filter(([key]) => origins.get(key) === 'default');
  const { config } = missing.length === 0 ? configured : read({ ...flags, ...Object.fromEntries(missing) });
  const byName = Object.keys(named).filter((key) => !(key in written));
  return { config, origins: new Map([...origins, ...byName.map((key) => [key, '--instance'] as const)]) };
}

export function selectionOf({ instance, data }: Readonly<Record<string, unknown>>) {
  return { instance: folderOptions.instance.read(instance), data: folderOptions.data.read(data) };
}

function flagsOf(options: Readonly<Record<string, unknown>>): Flags {
  const flags: Flags = {};
  for (const { key } of settings) {
    const { [key]: written } = options;
    if (typeof written === 'string' || typeof written === 'boolean') flags[key] = written;
  }
  return flags;
}
