import type { Command } from 'commander';
import { addConfigOptions, configOf } from './config-options.ts';
import { greeting } from './greeting.ts';
import { type EmulatorStarter, withPlatform } from './running-platform.ts';
import { untilStopSignal } from './stop-signal.ts';
import type { Terminal } from './terminal.ts';

/**
 * `terrarium start`, also what `terrarium` alone does: brings the platform up, says where it is and how to sign in, and
 * runs until it is told to stop.
 */
export function addStartCommand(program: Command, terminal: Terminal, startEmulator: EmulatorStarter): void {
  const command = program.command('start').description('start the platform (the default command)');
  addConfigOptions(command).action(async () => {
    const { config } = configOf(command, terminal);
    const stopSignal = untilStopSignal(terminal);
    await withPlatform(config, terminal, startEmulator, async (emulator) => {
      for (const line of greeting(emulator, terminal)) terminal.print(line);
      terminal.print(`\n${await stopSignal}: stopping ...`);
    });
  });
}
