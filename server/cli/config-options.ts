import { type Command, Option } from 'commander';
import { settings } from '../config-settings.ts';
import { type ConfigWithOrigins, readConfig } from '../config-sources.ts';
import { addInstanceOption, namedFolder } from './instance-name.ts';
import type { Terminal } from './terminal.ts';

type Flags = Record<string, string | boolean>;

const options = new Map(
  settings.map((setting) => {
    const { flag, placeholder, description, env } = setting;
    return [setting.key, new Option(placeholder ? `${flag} <${placeholder}>` : flag, `${description} (${env})`)];
  }),
);

/** Gives a command an option for every setting, and the one that names an instance. */
export function addConfigOptions(command: Command): Command {
  for (const option of options.values()) command.addOption(option);
  return addInstanceOption(command);
}

/**
 * The configuration as the command's options, the environment and terrarium.json say. A named instance has its own data
 * folder and, unless flags say which, free ports.
 *
 * @param presets what the command itself sets instead of environment and terrarium.json, unless a flag says otherwise
 * @throws UserError
 */
export function configOf(
  command: Command,
  terminal: Pick<Terminal, 'env' | 'folder'>,
  presets: Flags = {},
): ConfigWithOrigins {
  const folder = namedFolder(command);
  const named: Flags = folder === undefined ? {} : { data: folder, basePort: '0', gatewayPort: '0', crmPort: '0' };
  const written = flagsOf(command);
  const flags = { ...presets, ...named, ...written };
  const { config, origins } = readConfig({ flags, env: terminal.env, folder: terminal.folder });
  const byName = Object.keys(named).filter((key) => !(key in written));
  return { config, origins: new Map([...origins, ...byName.map((key) => [key, '--instance'] as const)]) };
}

function flagsOf(command: Command): Flags {
  const flags: Flags = {};
  for (const [key, option] of options) {
    const written: unknown = command.getOptionValue(option.attributeName());
    if (typeof written === 'string' || typeof written === 'boolean') flags[key] = written;
  }
  return flags;
}
