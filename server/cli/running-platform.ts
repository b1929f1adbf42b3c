import { rm } from 'node:fs/promises';
import type { Config } from '../config-schema.ts';
import type { ConfigWithOrigins } from '../config-sources.ts';
import type { Emulator, StartHooks } from '../emulator.ts';
import { describeFault } from './describe-failure.ts';
import { removeInstanceFile, writeInstanceFile } from './instance-file.ts';
import { keepPorts } from './kept-ports.ts';
import { writeReadyFile } from './ready-file.ts';
import type { Terminal } from './terminal.ts';

/** Names a ready file for the desktop shell, beside the one that the user may have asked for. */
export const SHELL_READY_FILE = 'TERRARIUM_SHELL_READY_FILE';

/** Starts the emulator; loads it first, which is most of the work. */
export type EmulatorStarter = (config: Config, hooks: StartHooks) => Promise<Emulator>;

/** Starts a platform, tells other processes that it is ready, works with it, and stops it whatever came of the work. */
export async function withPlatform<T>(
  { config, origins }: ConfigWithOrigins,
  terminal: Terminal,
  startEmulator: EmulatorStarter,
  work: (emulator: Emulator) => Promise<T>,
): Promise<T> {
  // One of an earlier run would tell whoever waits for it that this one is ready.
  const readyFiles = [config.readyFile, terminal.env[SHELL_READY_FILE]].filter((file) => file !== undefined);
  for (const file of readyFiles) await rm(file, { force: true });
  const emulator = await startEmulator(config, {
    origins,
    onWarning: (message) => terminal.complain(`terrarium: ${message}`),
    onFault: (fault) => terminal.complain(`terrarium: ${describeFault(fault)}`),
  });
  try {
    await writeInstanceFile(emulator, terminal.pid);
    await keepPorts(emulator);
    for (const file of readyFiles) await writeReadyFile(file, emulator, terminal.pid);
    return await work(emulator);
  } finally {
    for (const file of readyFiles) await rm(file, { force: true });
    await removeInstanceFile(emulator, terminal.pid);
    await emulator.stop();
  }
}
