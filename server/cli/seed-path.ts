import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Name of the seed in a folder that holds one with the code of its lambdas beside it. */
const SEED_FILE = 'world.yaml';

/** The seed file that a path means: itself, or the one in the folder that it is. */
export async function seedFileAt(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? join(path, SEED_FILE) : path;
}
