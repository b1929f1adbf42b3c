import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import type { DocumentedOperation } from './api-document.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file to which each worker appends the operations that succeeded with a valid response. */
    validatedFile?: string;
  }
}

/** The operations that the tests of a project validate. */
const KINDS: Readonly<Record<string, string>> = {
  fast: 'need no container engine and run no pipeline',
  engine: 'need a container engine',
  slow: 'run a pipeline',
};
/** Operations that tests of the second tier validate, by their project: they need an engine, or run a pipeline. */
const SECOND_TIER: Readonly<Record<string, 'engine' | 'slow'>> = {
  'GET /inspect/containers/{container_id}/instances': 'engine',
  'GET /inspect/containers/{container_id}/stats': 'engine',
  'GET /log/container/{container_id}': 'engine',
  'POST /inspect/containers/{container_id}/exec': 'engine',
  'POST /inspect/containers/{container_id}/restart': 'engine',
  'POST /inspect/pipelines/demo': 'slow',
  'POST /inspect/pipelines/{pipeline_id}/jobs/{job_name}/retry': 'slow',
  'POST /inspect/pipelines/{pipeline_id}/stop': 'slow',
};

/** Fails a run of all tests of a project that leaves an operation of the API document unvalidated, and prints their number. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-operations-'));
  const file = path.join(folder, 'validated');
  await writeFile(file, '');
  project.provide('validatedFile', file);
  return async () => {
    const validated = new Set((await readFile(file, 'utf8')).split('\n').filter(Boolean));
    await rm(folder, { recursive: true, force: true });
    if (!(await isWholeRun(project))) return;
    // Not in the workers, where tests register types of their own.
    const { countedOperations } = await import('./api-document.ts');
    const expected = countedOperations
      .map(lineOf)
      .filter((operation) => (SECOND_TIER[operation] ?? 'fast') === project.name);
    const missing = expected.filter((operation) => !validated.has(operation));
    const count = `${expected.length - missing.length} of ${expected.length} operations that ${KINDS[project.name]}`;
    console.log(
      `${count} succeeded with a response that the API document allows; it has ${countedOperations.length} operations`,
    );
    if (missing.length === 0) return;
    console.error(`No test of the project ${project.name} validates a success of:\n${missing.join('\n')}`);
    // Vitest reports errors that are thrown here, but exits as if there were none.
    process.exitCode = 1;
  };
}

/** An operation by its method and path. */
export const lineOf = ({ verb, path: address }: DocumentedOperation): string => `${verb} ${address}`;

/** Did all tests of the project run and pass, and not only some files or titles? */
async function isWholeRun(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles();
  const ran = project.vitest.state.getFiles().filter(({ projectName }) => projectName === project.name);
  const hasFailed = ran.some(({ result }) => result?.state === 'fail');
  return !hasFailed && project.config.testNamePattern === undefined && ran.length === testFiles.length;
}
