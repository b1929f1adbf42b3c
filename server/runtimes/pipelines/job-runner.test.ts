import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runOnHost } from './job-runner.ts';

it.skipIf(process.platform === 'win32')(
  'a job on this machine inherits what programs need, and no credentials',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'job-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'run'), 'env\n');
    const lines: string[] = [];
    const { PATH = '', HOME = '' } = process.env;
    const inherited = {
      PATH,
      HOME,
      TERRARIUM_ROOT_API_SECRET: 'secret',
      GITHUB_TOKEN: 'token',
      MY_PASSWORD: 'password',
    };
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
      inherited,
    );
    expect(exitCode).toBe(0);
    // A shell adds some of its own.
    expect(lines.filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line)).sort()).toEqual(
      [`HOME=${HOME}`, 'OF_THE_PROJECT=given', `PATH=${PATH}`].sort(),
    );
  },
);
