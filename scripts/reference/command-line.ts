import type { Command } from 'commander';
import { makeProgram } from '../../server/cli/program.ts';
import { processTerminal } from '../../server/cli/terminal.ts';
import { settings } from '../../server/platform/config-schema.ts';
import { capital, code, table } from './markdown.ts';

const flags = new Set(settings.map(({ flag }) => flag));

/** Each command with its arguments and options, from the commands themselves. */
export async function commandLine(): Promise<string> {
  const program = await makeProgram([], processTerminal(), () => Promise.reject(new Error('nothing is started')));
  return sectionsOf(program, []).join('\n\n');
}

function sectionsOf(above: Command, path: readonly string[]): string[] {
  const help = above.createHelp();
  return help.visibleCommands(above).flatMap((command) => {
    if (command.name() === 'help') return [];
    const commandPath = [...path, command.name()];
    const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
    // Other commands have only `--data`.
    const settingOptions = options.filter(({ long }) => flags.has(long ?? ''));
    const hasSettings = settingOptions.length === flags.size;
    const commandOptions = options.filter((option) => !(hasSettings && settingOptions.includes(option)));
    const rows = commandOptions.map(({ flags: written, description }) => [code(written), description]);
    return [
      `### ${code(commandPath.join(' '))}`,
      `${capital(command.description())}. Usage: ${code([...commandPath.slice(0, -1), usageOf(command)].join(' '))}`,
      ...argumentsOf(command),
      ...(rows.length > 0 ? [table(['option', 'meaning'], rows)] : []),
      ...(hasSettings ? ['In addition, each [setting](../settings.md) is an option.'] : []),
      ...sectionsOf(command, commandPath),
    ];
  });
}

function usageOf(command: Command): string {
  return `${command.name()} ${command.usage()}`.trim();
}

function argumentsOf(command: Command): string[] {
  const rows = command.registeredArguments.map((argument) => [
    code(argument.name()),
    [argument.description, argument.argChoices?.join(', ')].filter(Boolean).join(': '),
  ]);
  return rows.some(([, text]) => text) ? [table(['argument', 'meaning'], rows)] : [];
}
