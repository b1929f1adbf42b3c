import { type Command, Option } from 'commander';
import { settings } from '../config-settings.ts';
import { type ConfigWithOrigins, readConfig } from '../config-sources.ts';
import type { Terminal } from './terminal.ts';

const options = new Map(
  settings.map((setting) => {
    const { flag, placeholder, description, env } = setting;
    return [setting.key, new Option(placeholder ? `${flag} <${placeholder}>` : flag, `${description} (${env})`)];
  }),
);

/** Gives a command an option for every setting. */
export function addConfigOptions(command: Command): Command {
  for (const option of options.values()) command.addOption(option);
  return command;
}

/**
 * The configuration as the command's options, the environment and terrarium.json say.
 * @throws UserError
 */
export function configOf(command: Command, terminal: Pick<Terminal, 'env' | 'folder'>): ConfigWithOrigins {
  const flags: Record<string, string | boolean> = {};
  for (const [key, option] of options) {
    const written: unknown = command.getOptionValue(option.attributeName());
    if (typeof written === 'string' || typeof written === 'boolean') flags[key] = written;
  }
  return readConfig({ flags, env: terminal.env, folder: terminal.folder });
}
