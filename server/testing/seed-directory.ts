import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** A new directory for seed files per test of the file or `describe` block. */
export function seedDirectory() {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'terrarium-seed-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));
  return {
    pathOf: (name: string) => path.join(dir, name),
    /** Writes a file and returns its path. */
    async file(text: string | Buffer, name = 'seed.yaml') {
      const at = path.join(dir, name);
      await writeFile(at, text);
      return at;
    },
  };
}
