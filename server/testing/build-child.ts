import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildChild } from '../../scripts/build-child.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** Builds the lambda child's bootstrap from the current sources, once per test run. */
    lambdaChildFile: string;
  }
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-child-'));
  const outFile = path.join(folder, 'lambda-child.cjs');
  await buildChild({ outFile });
  provide('lambdaChildFile', outFile);
  return () => rm(folder, { recursive: true, force: true });
}
