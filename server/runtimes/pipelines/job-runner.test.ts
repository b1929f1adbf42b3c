import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runOnHost } from './job-runner.ts';
import { jobScripts } from './job-script.ts';

/** Runs these files of a job; resolves to the lines that it prints. */
async function linesOf(files: Readonly<Record<string, string>>, env = process.env): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'job-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const lines: string[] = [];
  const { exitCode } = await runOnHost(
    {
      workDir: folder,
      buildsDir: folder,
      dockerSocket: undefined,
      scriptDir: folder,
      image: undefined,
      services: [],
      variables: { OF_THE_PROJECT: 'given' },
      signal: new AbortController().signal,
      onLine: (line) => lines.push(line),
      onNote: () => undefined,
    },
    env,
  );
  expect(exitCode).toBe(0);
  return lines;
}

describe.skipIf(process.platform === 'win32')('a job on this machine', () => {
  it('inherits what programs need, and no credentials', async () => {
    const { PATH = '', HOME = '' } = process.env;
    const inherited = {
      PATH,
      HOME,
      TERRARIUM_ROOT_API_SECRET: 'secret',
      GITHUB_TOKEN: 'token',
      MY_PASSWORD: 'password',
    };
    const lines = await linesOf({ run: 'env\n' }, inherited);
    // A shell adds some of its own.
    expect(lines.filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line)).sort()).toEqual(
      [`HOME=${HOME}`, 'OF_THE_PROJECT=given', `PATH=${PATH}`].sort(),
    );
  });

  it('has its errors in the log between the lines that it printed before and after them', async () => {
    const script = ['for i in 1 2 3 4 5; do echo "out $i"; echo "error $i" >&2; done'];
    const definition = { before_script: undefined, script, after_script: script };
    const lines = await linesOf(jobScripts({ stage: 'test', variables: {}, ...definition }));
    const expected = [1, 2, 3, 4, 5].flatMap((i) => [`out ${i}`, `error ${i}`]);
    expect(lines.filter((line) => /^(?:out|error)/.test(line))).toEqual([...expected, ...expected]);
  });
});
