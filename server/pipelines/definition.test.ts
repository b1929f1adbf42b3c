import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDefinition } from './definition.ts';
import { git } from './git.ts';
import { PipelineError } from './pipeline-error.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium definition '));
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads the definition of a commit with these files. */
async function read(files: Readonly<Record<string, string>>) {
  const dir = await mkdtemp(join(folder, 'app-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  await git(dir, ['init', '--quiet', '--initial-branch', 'main']);
  await git(dir, ['add', '--all']);
  return readDefinition({ dir, folder, variables: {}, env: process.env, signal: AbortSignal.timeout(30_000) });
}

it.each<[string, Record<string, string>]>([
  ['none not found for a', { '.gitlab-ci.yml': 'a: {script: echo hi, stage: none}\n' }],
  ['a must have script', { '.gitlab-ci.yml': 'a: {image: x}\n' }],
  ['none', { '.gitlab-ci.yml': 'a: {script: echo hi, needs: [none]}\n' }],
  ['null ==', { '.gitlab-ci.yml': 'a: {script: echo hi, rules: [{if: "$A =="}]}\n' }],
  ['none.yml', { '.gitlab-ci.yml': 'include: /none.yml\na: {script: echo hi}\n' }],
  ['.gitlab-ci.yml:2:1 is no YAML', { '.gitlab-ci.yml': 'ci: [a\nb: {\n' }],
  ['ci/more.yml:3:', { '.gitlab-ci.yml': 'include: ci/more.yml\n', 'ci/more.yml': 'a:\n  script: [\nb: 1\n' }],
])('%s is said of a definition that is wrong there, in one line', async (where, files) => {
  const failure = await read(files).catch((thrown) => thrown);
  expect(failure).toBeInstanceOf(PipelineError);
  expect(failure.message).toContain(where);
  expect(failure.message).not.toContain('\n');
});
