import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { addApplyCommand } from './apply-command.ts';
import { addCleanCommand } from './clean-command.ts';
import { addCompletionCommand } from './completion-command.ts';
import { addConfigCommand } from './config-command.ts';
import { describeFailure, USER_FAILURE } from './describe-failure.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addExecCommand } from './exec-command.ts';
import { ExitWith } from './exit-with.ts';
import { addExportCommand } from './export-command.ts';
import { addHistoryCommand } from './history-command.ts';
import { addImportCommand } from './import-command.ts';
import { addInvokeCommand } from './invoke-command.ts';
import { addLeadsCommand } from './leads-command.ts';
import { addLogsCommand } from './logs-command.ts';
import { addPipelineCommand } from './pipeline-command.ts';
import { addPublishingCommands } from './publishing-command.ts';
import { addResetCommand } from './reset-command.ts';
import type { EmulatorStarter } from './running-platform.ts';
import { addScheduleCommand } from './schedule-command.ts';
import { addSnapshotCommand } from './snapshot-command.ts';
import { addStartCommand } from './start-command.ts';
import { addStatusCommand } from './status-command.ts';
import { addStopCommand } from './stop-command.ts';
import type { Terminal } from './terminal.ts';
import { addTokenCommand } from './token-command.ts';
import { addUiCommand } from './ui-command.ts';
import { addWaitCommand } from './wait-command.ts';

const PROGRAM_OPTIONS = ['-h', '--help', '-V', '--version'];

// A command is one file with one `add...Command`, called here.
function makeProgram(args: readonly string[], terminal: Terminal, startEmulator: EmulatorStarter): Command {
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
  addExecCommand(program, terminal, startEmulator);
  addStatusCommand(program, terminal);
  addWaitCommand(program, terminal);
  addStopCommand(program, terminal);
  addUiCommand(program, terminal);
  addInvokeCommand(program, terminal);
  addScheduleCommand(program, terminal);
  addLogsCommand(program, terminal);
  addLeadsCommand(program, terminal);
  addPipelineCommand(program, terminal);
  addTokenCommand(program, terminal);
  addApplyCommand(program, terminal);
  addExportCommand(program, terminal);
  addImportCommand(program, terminal);
  addPublishingCommands(program, terminal);
  addHistoryCommand(program, terminal);
  addSnapshotCommand(program, terminal);
  addResetCommand(program, terminal);
  addCleanCommand(program, terminal);
  addConfigCommand(program, terminal);
  addDoctorCommand(program, terminal);
  addCompletionCommand(program, terminal);
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
    await makeProgram(line, terminal, startEmulator).parseAsync(line, { from: 'user' });
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
  return isComplete ? args : ['start', ...args];
}
