import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { describeFailure, USER_FAILURE } from './describe-failure.ts';
import { ExitWith } from './exit-with.ts';
import type { EmulatorStarter } from './running-platform.ts';
import { addStartCommand } from './start-command.ts';
import type { Terminal } from './terminal.ts';

/** What `terrarium` alone means. */
const START = 'start';
const PROGRAM_OPTIONS = ['-h', '--help', '-V', '--version'];

async function makeProgram(
  args: readonly string[],
  terminal: Terminal,
  startEmulator: EmulatorStarter,
): Promise<Command> {
  const program = new Command('terrarium')
    .description(manifest.description)
    .version(manifest.version, '-V, --version', 'print the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.complain(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'terrarium: ')),
      getOutHasColors: () => terminal.hasColour,
    });
  addStartCommand(program, terminal, startEmulator, args);
  if (args[0] !== START) {
    // Loaded only now: a start has nothing to do with the others.
    const { addOtherCommands } = await import('./other-commands.ts');
    addOtherCommands(program, terminal, startEmulator);
  }
  return program;
}

/**
 * Runs one command line to its end.
 *
 * @param args what stands behind `terrarium`
 * @returns the exit code: 0, 2 for what the user can put right, 1 for a no and for a fault of the emulator; or the command's own
 */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
  startEmulator: EmulatorStarter,
): Promise<number> {
  try {
    const line = withCommand(args);
    const program = await makeProgram(line, terminal, startEmulator);
    await program.parseAsync(line, { from: 'user' });
    return 0;
  } catch (failure) {
    // Commander has said already what is wrong with the arguments, or printed the help that was asked for.
    if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : USER_FAILURE;
    if (failure instanceof ExitWith) {
      if (failure.message) terminal.complain(`terrarium: ${failure.message}`);
      return failure.exitCode;
    }
    const { text, exitCode } = describeFailure(failure);
    terminal.complain(`terrarium: ${text}`);
    return exitCode;
  }
}

/** `terrarium` alone, or with nothing but options, means `terrarium start`. */
function withCommand(args: readonly string[]): readonly string[] {
  const [first] = args;
  const isComplete = first !== undefined && (!first.startsWith('-') || PROGRAM_OPTIONS.includes(first));
  return isComplete ? args : [START, ...args];
}
