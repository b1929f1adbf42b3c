import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Creates a folder with its parents. Recursive `mkdir` of Node.js 20 never ends if the system answers ENOENT in a folder, as in /proc. */
export async function makeFolder(folder: string, options?: { mode: number }): Promise<void> {
  const parent = dirname(folder);
  if (parent !== folder && !existsSync(parent)) await makeFolder(parent, options);
  await mkdir(folder, options).catch(async (failure: unknown) => {
    const isFolder = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw failure;
  });
}
