import { rename, rm, writeFile } from 'node:fs/promises';
import { UserError } from '../config.ts';
import type { Emulator } from '../emulator.ts';

/**
 * Tells whoever waits for the file that the platform answers, and where. It appears whole or not at all.
 *
 * @param file absolute path; its folder has to exist
 * @throws UserError when it cannot be written
 */
export async function writeReadyFile(file: string, emulator: Emulator, pid: number): Promise<void> {
  const { baseUrl, metaUrl, securityUrl, gatewayUrl, dataDir } = emulator;
  const draft = `${file}.${pid}.tmp`;
  try {
    const windowUrl = emulator.windowUrl();
    const content = { baseUrl, metaUrl, securityUrl, gatewayUrl, windowUrl, pid, dataDir };
    // The address signs in: for its owner's eyes only.
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(`the ready file cannot be written: ${reason}`, { cause });
  }
}
