import { UserError } from '../config.ts';
import type { Emulator } from '../emulator.ts';
import { writeWhole } from '../machine/write-whole.ts';
import { reasonOf } from '../model/reason.ts';

/**
 * Tells whoever waits for the file that the platform answers, and where. It appears whole or not at all.
 *
 * @param file absolute path; its folder has to exist
 * @throws UserError when it cannot be written
 */
export async function writeReadyFile(file: string, emulator: Emulator, pid: number): Promise<void> {
  const { baseUrl, metaUrl, securityUrl, gatewayUrl, dataDir } = emulator;
  try {
    const windowUrl = emulator.windowUrl();
    const content = { baseUrl, metaUrl, securityUrl, gatewayUrl, windowUrl, pid, dataDir };
    // The address signs in: for its owner's eyes only.
    await writeWhole(file, `${JSON.stringify(content, null, 2)}\n`);
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new UserError(`the ready file cannot be written: ${reason}`, { cause });
  }
}
