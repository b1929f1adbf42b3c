import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Config } from '../config-schema.ts';
import type { Emulator, StartHooks } from '../emulator.ts';
import { addConfigOptions, configOf } from './config-options.ts';
import { describeFault } from './describe-failure.ts';
import { greeting } from './greeting.ts';
import { writeReadyFile } from './ready-file.ts';
import { untilStopSignal } from './stop-signal.ts';
import type { Terminal } from './terminal.ts';

/** Starts the emulator; loads it first, which is most of the work. */
export type EmulatorStarter = (config: Config, hooks: StartHooks) => Promise<Emulator>;

/**
 * `terrarium start`, also what `terrarium` alone does: brings the platform up, says where it is and how to sign in, and
 * runs until it is told to stop.
 */
export function addStartCommand(program: Command, terminal: Terminal, startEmulator: EmulatorStarter): void {
  const command = program.command('start').description('start the platform (the default command)');
  addConfigOptions(command).action(async () => {
    const { config } = configOf(command, terminal);
    const stopSignal = untilStopSignal(terminal);
    // One of an earlier run would tell whoever waits for it that this one is ready.
    if (config.readyFile) await rm(config.readyFile, { force: true });
    const emulator = await startEmulator(config, {
      onWarning: (message) => terminal.complain(`terrarium: ${message}`),
      onFault: (fault) => terminal.complain(`terrarium: ${describeFault(fault)}`),
    });
    try {
      if (config.readyFile) await writeReadyFile(config.readyFile, emulator, terminal.pid);
      for (const line of greeting(emulator, terminal)) terminal.print(line);
      terminal.print(`\n${await stopSignal}: stopping ...`);
    } finally {
      if (config.readyFile) await rm(config.readyFile, { force: true });
      await emulator.stop();
    }
  });
}
