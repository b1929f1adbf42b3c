import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Writes a file for its owner's eyes only, so that whoever reads it meanwhile finds what was there or all that is new. Does not wait
 * for the disk. Rejects with the file system's error, and leaves nothing behind then.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, file);
  } catch (failure) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw failure;
  }
}

/** The same at once, for a small file that somebody waits for. Throws the file system's error. */
export function writeWholeNow(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (failure) {
    rmSync(draft, { force: true });
    throw failure;
  }
}
