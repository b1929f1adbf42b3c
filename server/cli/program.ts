import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { addCommand } from './command.ts';
import { describeFailure, USER_FAILURE } from './describe-failure.ts';
import type { EmulatorStarter } from './running-platform.ts';
import { startCommand } from './start-command.ts';
import type { Terminal } from './terminal.ts';

const START = 'start';
const PROGRAM_OPTIONS = ['-h', '--help', '-V', '--version'];

/** The commands of `terrarium`. @param args those of the command line, so that only the commands are loaded that it can need */
export async function makeProgram(
  args: readonly string[],
  terminal: Terminal,
  startEmulator: EmulatorStarter,
): Promise<Command> {
  const program = new Command('terrarium')
    .description(manifest.description)
    .version(manifest.version, '-V, --version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ minWidthToWrap: 24 })
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.complain(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'terrarium: ')),
      getOutHasColors: () => terminal.hasColour,
    });
  const runtime = { terminal, startEmulator, line: args, program };
  addCommand(program, startCommand, runtime);
  if (args[0] !== START) {
    // Loaded only now: `start` does not need the other commands.
    const { addOtherCommands } = await import('./other-commands.ts');
    addOtherCommands(runtime);
  }
  return program;
}

/** Runs one command line. Returns 0, 1 (failed, or an internal error), 2 (invalid usage), or the code of the executed command. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
  startEmulator: EmulatorStarter,
): Promise<number> {
  const line = withCommand(args);
  try {
    const program = await makeProgram(line, terminal, startEmulator);
    await program.parseAsync(line, { from: 'user' });
    return 0;
  } catch (failure) {
    // Commander has already printed the error or the requested help.
    if (failure instanceof CommanderError) {
      if (failure.exitCode === 0) return 0;
      // For `help NAME` it has printed the general help only.
      const name = line[line.indexOf('help') + 1];
      if (failure.code === 'commander.help' && line.includes('help') && name && !name.startsWith('-'))
        terminal.complain(`terrarium: unknown command '${name}'`);
      return USER_FAILURE;
    }
    const { text, exitCode } = describeFailure(failure);
    if (text) terminal.complain(`terrarium: ${text}`);
    return exitCode;
  }
}

/** Without a command name, `terrarium` means `terrarium start`. */
function withCommand(args: readonly string[]): readonly string[] {
  const [first] = args;
  const isComplete = first !== undefined && (!first.startsWith('-') || PROGRAM_OPTIONS.includes(first));
  return isComplete ? args : [START, ...args];
}
