import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { FolderFiles } from '../storage/files/folder-files.ts';
import { parseWorldFile, worldFileContent } from '../storage/world/world-file.ts';
import { UserError } from './config.ts';

const WORLD_FILE = 'world.json';

/**
 * Gives the world of a stopped platform another id, by which engines tell its containers from those of the world that it was copied from.
 *
 * @returns the new id
 * @throws UserError if the data folder contains no world, StoreError if it is in use
 */
export async function renewWorldId(data: string): Promise<string> {
  const files = existsSync(data) ? await FolderFiles.open(data) : undefined;
  try {
    const content = await files?.read(WORLD_FILE);
    if (!files || !content) throw new UserError(`${data} contains no world`);
    const { seq, resources } = parseWorldFile(files.pathOf(WORLD_FILE), content);
    const worldId = randomUUID();
    await files.replace(WORLD_FILE, worldFileContent(worldId, seq, resources.values()));
    return worldId;
  } finally {
    files?.release();
  }
}
