import { rm } from 'node:fs/promises';
import { reasonOf } from '../model/errors.ts';
import { type ConfigWithOrigins, UserError } from '../platform/config.ts';
import type { Config } from '../platform/config-schema.ts';
import { urlsOf } from '../platform/declarations.ts';
import type { Emulator, StartHooks } from '../platform/emulator.ts';
import { removeIfPossible } from '../system/files-in-use.ts';
import { writeWhole } from '../system/write-whole.ts';
import { describeFault } from './describe-failure.ts';
import { keepPorts, removeInstanceFile, writeInstanceFile } from './instance-file.ts';
import type { Terminal } from './terminal.ts';

/** Variable with the path of a ready file for the desktop shell, in addition to the user's `--ready-file`. */
export const SHELL_READY_FILE = 'TERRARIUM_SHELL_READY_FILE';

export type EmulatorStarter = (config: Config, hooks: StartHooks) => Promise<Emulator>;

/** Starts a platform, writes its ready files, runs `work`, and stops the platform in any case. */
export async function withPlatform<T>(
  { config, origins }: ConfigWithOrigins,
  terminal: Terminal,
  startEmulator: EmulatorStarter,
  work: (emulator: Emulator) => Promise<T>,
): Promise<T> {
  // A ready file of an earlier run would announce this one too early.
  const readyFiles = [config.readyFile, terminal.env[SHELL_READY_FILE]].filter((file) => file !== undefined);
  for (const file of readyFiles) await rm(file, { force: true });
  const onFault = (fault: unknown) => terminal.complain(`terrarium: ${describeFault(fault)}`);
  // The process would end with a rejected promise without a handler: one request or record must not end all others.
  terminal.signals.on('unhandledRejection', onFault);
  const emulator = await startEmulator(config, {
    origins,
    onStopRequest: () => terminal.signals.emit('SIGTERM', 'SIGTERM'),
    onWarning: (message) => terminal.complain(`terrarium: ${message}`),
    onFault,
  });
  try {
    await writeInstanceFile(emulator, terminal.pid);
    await keepPorts(emulator);
    for (const file of readyFiles) await writeReadyFile(file, emulator, terminal.pid);
    return await work(emulator);
  } finally {
    terminal.signals.off('unhandledRejection', onFault);
    for (const file of readyFiles) await removeIfPossible(file);
    await removeInstanceFile(emulator, terminal.pid);
    await emulator.stop();
  }
}

/** Writes the addresses of the platform; the file appears only when it is complete. Throws UserError when it cannot be written. */
async function writeReadyFile(file: string, emulator: Emulator, pid: number): Promise<void> {
  const { metaUrl, securityUrl, dataDir } = emulator;
  try {
    const windowUrl = emulator.windowUrl();
    const content = { ...urlsOf(emulator), metaUrl, securityUrl, windowUrl, pid, dataDir };
    // The window address signs in: readable only by its owner.
    await writeWhole(file, `${JSON.stringify(content, null, 2)}\n`);
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new UserError(`the ready file cannot be written: ${reason}`, { cause });
  }
}
