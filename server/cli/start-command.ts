import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { chooseWindow } from './choose-window.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { startDetached } from './detach.ts';
import { fetchForLater } from './electron-for-later.ts';
import { ExitWith } from './exit-with.ts';
import { greeting } from './greeting.ts';
import { withKeptPorts } from './kept-ports.ts';
import { printAnswer } from './print-answer.ts';
import { runShell } from './run-shell.ts';
import { type EmulatorStarter, withPlatform } from './running-platform.ts';
import { showWindow } from './show-window.ts';
import { untilStopSignal } from './stop-signal.ts';
import type { Terminal } from './terminal.ts';
import { findShellFile, windowChoice, windowSurroundings } from './window-surroundings.ts';

const NO_JSON = '--json goes with --detach; of a platform in the foreground a --ready-file tells where it is';

/**
 * `terrarium start`, also what `terrarium` alone does: brings the platform up, says where it is and how to sign in, opens
 * its window (docs/decisions/the-window.md), and runs until it is told to stop.
 *
 * @param args all that stands on the command line, with `start` first if this is the command
 */
export function addStartCommand(
  program: Command,
  terminal: Terminal,
  startEmulator: EmulatorStarter,
  args: readonly string[],
): void {
  const command = program.command('start').description('start the platform (the default command)');
  command
    .option('--detach', 'go on in the background; come back when the platform answers (`terrarium stop` ends it)')
    .option('--json', 'with --detach: say where it is, as JSON');
  addConfigOptions(command).action(async () => {
    const configured = configOf(command, terminal);
    if (command.getOptionValue('detach') === true) {
      const inner = args.slice(1).filter((word) => word !== '--detach' && word !== '--json');
      const { instance, log } = await startDetached(configured.config, inner, terminal);
      printAnswer(command, terminal, { ...instance, log }, () =>
        terminal.print(
          `Terrarium is ready at ${instance.baseUrl} (process ${instance.pid}); what it says goes to ${log}`,
        ),
      );
      return;
    }
    if (command.getOptionValue('json') === true) throw new UserError(NO_JSON);
    const isNamed = command.getOptionValue('instance') !== undefined;
    const found = isNamed ? await withKeptPorts(configured) : configured;
    const stopSignal = untilStopSignal(terminal);
    let surroundings = windowSurroundings(terminal, windowChoice(found));
    const shell = chooseWindow(surroundings);
    if (shell.kind === 'electron') {
      terminal.print(shell.line);
      const end = await runShell(shell.path, findShellFile() ?? '', args.slice(1), terminal, stopSignal);
      if ('exitCode' in end) throw new ExitWith(end.exitCode);
      surroundings = { ...surroundings, electron: { missing: `Electron could not start (${end.failure})` } };
    }
    const window = chooseWindow(surroundings);
    await withPlatform(found, terminal, startEmulator, async (emulator) => {
      for (const line of greeting(emulator, terminal)) terminal.print(line);
      await showWindow(window, surroundings, emulator.windowUrl(), terminal);
      const stopFetching = fetchForLater(window, surroundings, terminal);
      terminal.print(`\n${await stopSignal}: stopping ...`);
      await stopFetching();
    });
  });
}
