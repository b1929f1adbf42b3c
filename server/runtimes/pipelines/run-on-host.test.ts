import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jobScripts } from './job-script.ts';
import { runOnHost, setOrigin } from './run-on-host.ts';

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
  it('gives git its token by a variable: in no argument of a program and in no file of the checkout', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'job-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { PATH = '' } = process.env;
    const run = (args: string[], options = {}) =>
      execFileSync('git', ['-C', join(folder, 'checkout'), ...args], { encoding: 'utf8', ...options });
    execFileSync('git', ['init', '--quiet', join(folder, 'checkout')]);
    run(['remote', 'add', 'origin', 'http://other.invalid']);
    // A git before the real git that notes its arguments.
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const log = join(folder, 'arguments');
    await writeFile(join(folder, 'git'), `#!/bin/sh\necho "$@" >>'${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
    process.env.PATH = `${folder}${delimiter}${PATH}`;
    try {
      await setOrigin(join(folder, 'checkout'), 'http://gitlab-ci-token:glcbt-1@127.0.0.1:1234/g/p.git');
    } finally {
      process.env.PATH = PATH;
    }
    expect(run(['remote', 'get-url', 'origin']).trim()).toBe('http://127.0.0.1:1234/g/p.git');
    expect(await readFile(log, 'utf8')).toContain('http://127.0.0.1:1234/g/p.git');
    expect(await readFile(log, 'utf8')).not.toContain('glcbt');
    expect(await readFile(join(folder, 'checkout/.git/config'), 'utf8')).not.toContain('glcbt');
    const filled = run(['credential', 'fill'], {
      input: 'protocol=http\nhost=127.0.0.1:1234\npath=g/p.git\n\n',
      env: { ...process.env, CI_REPOSITORY_URL: 'http://gitlab-ci-token:glcbt-2@127.0.0.1:1234/g/p.git' },
    });
    expect(filled).toContain('username=gitlab-ci-token\npassword=glcbt-2\n');
  });

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
    const lines = await linesOf(jobScripts({ stage: 'test', variables: {}, ...definition }, {}));
    const expected = [1, 2, 3, 4, 5].flatMap((i) => [`out ${i}`, `error ${i}`]);
    expect(lines.filter((line) => /^(?:out|error)/.test(line))).toEqual([...expected, ...expected]);
  });

  it('keeps its exit code when its after_script exceeds the time for it', async () => {
    const definition = { stage: 'test', variables: {}, script: ['exit 3'], after_script: ['sleep 600'] };
    const files = jobScripts(definition, { RUNNER_AFTER_SCRIPT_TIMEOUT: '1s' });
    const lines = await linesOf({ ...files, run: `${files.run?.replace(/exit \$code/, 'echo "ends with $code"')}` });
    expect(lines.slice(-2)).toEqual([
      'after_script exceeded its time of 1 s and was ended: it is ignored',
      'ends with 3',
    ]);
    expect(lines.join()).not.toContain('Killed');
  });
});
