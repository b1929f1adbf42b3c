import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Files to which each worker appends the operations of the API document, and those that succeeded with a valid response. */
    operationFiles?: { documented: string; validated: string };
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
  const files = { documented: path.join(folder, 'documented'), validated: path.join(folder, 'validated') };
  for (const file of Object.values(files)) await writeFile(file, '');
  project.provide('operationFiles', files);
  return async () => {
    const [documented, validated] = await Promise.all([linesOf(files.documented), linesOf(files.validated)]);
    await rm(folder, { recursive: true, force: true });
    if (!(await isWholeRun(project))) return;
    const expected = [...documented].filter((operation) => (SECOND_TIER[operation] ?? 'fast') === project.name);
    const missing = expected.filter((operation) => !validated.has(operation));
    const count = `${expected.length - missing.length} of ${expected.length} operations that ${KINDS[project.name]}`;
    console.log(
      `${count} succeeded with a response that the API document allows; it has ${documented.size} operations`,
    );
    if (missing.length === 0) return;
    console.error(`No test of the project ${project.name} validates a success of:\n${missing.join('\n')}`);
    // Vitest reports errors that are thrown here, but exits as if there were none.
    process.exitCode = 1;
  };
}

const linesOf = async (file: string) => new Set((await readFile(file, 'utf8')).split('\n').filter(Boolean));

/** Did all tests of the project run and pass, and not only some files or titles? */
async function isWholeRun(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles();
  const ran = project.vitest.state.getFiles().filter(({ projectName }) => projectName === project.name);
  const hasFailed = ran.some(({ result }) => result?.state === 'fail');
  return !hasFailed && project.config.testNamePattern === undefined && ran.length === testFiles.length;
}
