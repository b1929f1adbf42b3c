import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildChild } from '../../scripts/build-child.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The lambda child's bootstrap, built from the current sources once per test run. */
    lambdaChildFile: string;
  }
}

const root = path.resolve(import.meta.dirname, '..', '..');

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  buildWhereMissing();
  const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-child-'));
  const outFile = path.join(folder, 'lambda-child.cjs');
  await buildChild({ outFile });
  provide('lambdaChildFile', outFile);
  return () => rm(folder, { recursive: true, force: true });
}

/** Builds the server in a clone without a build. An outdated build is kept: tests of the built command need `npm run build` first. */
function buildWhereMissing(): void {
  if (existsSync(path.join(root, 'dist', 'server', 'cli.js'))) return;
  const { status } = spawnSync(process.execPath, [path.join('scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed; its output is above');
}
