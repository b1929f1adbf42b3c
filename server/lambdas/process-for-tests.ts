import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { buildChild } from '../../scripts/build-child.mjs';

/** Does a process run? One that has ended but that nobody has asked about yet (a zombie) does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // No /proc: there the system cleans up after orphans.
    return true;
  }
}

let child: Promise<string> | undefined;
afterAll(async () => {
  if (child) await rm(path.dirname(await child), { recursive: true, force: true });
});

/** The bootstrap, built from the present sources once per test file. */
export function builtChild(): Promise<string> {
  child ??= (async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-child-'));
    const outFile = path.join(folder, 'lambda-child.cjs');
    await buildChild({ outFile });
    return outFile;
  })();
  return child;
}
