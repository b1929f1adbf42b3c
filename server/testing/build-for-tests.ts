import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildChild } from '../../scripts/build-child.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The lambda child's bootstrap, built from the current sources once per test run. */
    lambdaChildFile: string;
    /**
     * Lists the operations of the API document that have succeeded with a valid response, once for each worker; absent
     * for tests of the window.
     */
    validatedFile?: string;
  }
}

const root = path.resolve(import.meta.dirname, '..', '..');

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  buildWhereMissing();
  const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-child-'));
  const outFile = path.join(folder, 'lambda-child.cjs');
  await buildChild({ outFile });
  provide('lambdaChildFile', outFile);
  const validatedFile = path.join(folder, 'validated-operations');
  await writeFile(validatedFile, '');
  provide('validatedFile', validatedFile);
  return async () => {
    const validated = new Set((await readFile(validatedFile, 'utf8')).split('\n').filter(Boolean));
    const [, total] = [...validated][0]?.split(' of ') ?? [];
    if (total)
      console.log(`${validated.size} of ${total} operations succeeded with a response that the API document allows`);
    await rm(folder, { recursive: true, force: true });
  };
}

/** Builds the server in a clone without a build. An outdated build is kept: tests of the built command need `npm run build` first. */
function buildWhereMissing(): void {
  if (existsSync(path.join(root, 'dist', 'server', 'cli.js'))) return;
  const { status } = spawnSync(process.execPath, [path.join('scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed; its output is above');
}
