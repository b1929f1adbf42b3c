// The first hour of a newcomer: every block of README and of the install page, in a clean clone, and the CI examples in a second project.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { readPage } from '../scripts/read-docs.ts';
import { packageFile } from '../server/system/package-file.ts';
import { expectedOutput, fits, isNotRun, isShell } from './page-blocks.ts';

const PAGE_TIMEOUT_MS = 900_000;
const START_TIMEOUT_MS = 600_000;
const run = promisify(execFile);

let folder: string;
/** The repository that the pages call REPOSITORY. */
let repository: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-first-clone-'));
  repository = join(folder, 'repository');
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: packageFile('.'),
    maxBuffer: 16 * 1024 * 1024,
  });
  for (const name of stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(repository, name)), { recursive: true });
    await cp(packageFile(name), join(repository, name));
  }
  await commitAll(repository);
});

afterAll(async () => {
  for (const platform of started) await stop(platform);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** Environment of a shell without settings for Terrarium, on free ports and without a window. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inheritedVariables = Object.entries(process.env).filter(
    ([name]) => !/^(TERRARIUM|PLATFORM|SCM|npm|VITEST)_|^NODE_ENV$/.test(name),
  );
  const git = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' };
  const committer = { GIT_COMMITTER_NAME: git.GIT_AUTHOR_NAME, GIT_COMMITTER_EMAIL: git.GIT_AUTHOR_EMAIL };
  const free = { TERRARIUM_BASE_PORT: '0', TERRARIUM_GATEWAY_PORT: '0', TERRARIUM_HEADLESS: 'true', CI: 'true' };
  return { ...Object.fromEntries(inheritedVariables), ...git, ...committer, ...free, ...more };
}

async function commitAll(cwd: string): Promise<void> {
  const options = { cwd, env: environment() };
  await run('git', ['init', '--quiet'], options);
  await run('git', ['add', '--all'], options);
  await run('git', ['commit', '--quiet', '--message', 'Add all files'], options);
}

async function stop(platform: ChildProcess): Promise<void> {
  if (platform.exitCode !== null || platform.signalCode !== null || !platform.pid) return;
  const ended = once(platform, 'exit');
  process.kill(-platform.pid, 'SIGTERM');
  await ended;
}

/** Runs the blocks of a page in order, beginning in a folder; `npm start` continues while the others run. */
async function runPage(path: string, home: string): Promise<void> {
  let cwd = home;
  let ports: { base: string; gateway: string } | undefined;
  const pasted = (text: string) =>
    (ports ? text.replaceAll(':4700', `:${ports.base}`).replaceAll(':4701', `:${ports.gateway}`) : text).replaceAll(
      'REPOSITORY',
      repository,
    );
  const { blocks } = readPage(path);
  for (const [index, block] of blocks.entries()) {
    const [, file] = /(?:^| )file=(\S+)/.exec(block.info) ?? [];
    if (file) await writeFile(join(cwd, file), block.text);
    if (!isShell(block) || isNotRun(block)) continue;
    const expected = expectedOutput(blocks, index);
    const where = `${path}:${block.line}`;
    if (/^npm start$/m.test(block.text)) {
      const platform = spawn('bash', ['-ec', `exec 2>&1\n${pasted(block.text)}`], {
        cwd,
        env: environment(),
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      started.push(platform);
      let output = '';
      platform.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      await vi.waitFor(
        () => {
          if (platform.exitCode !== null) return;
          const [, base] = /resources +http:\/\/127\.0\.0\.1:(\d+)\/meta/.exec(output) ?? [];
          const [, gateway] = /gateway +http:\/\/127\.0\.0\.1:(\d+)/.exec(output) ?? [];
          if (!base || !gateway) throw new Error(`${where} has not started the platform: ${output}`);
          ports = { base, gateway };
        },
        { timeout: START_TIMEOUT_MS, interval: 200 },
      );
      await expect
        .poll(() => fits(output, pasted(expected)) || output, { message: `${where} prints something else` })
        .toBe(true);
      cwd = join(home, 'terrarium');
      continue;
    }
    const end = join(folder, 'cwd');
    const { stdout } = await run('bash', ['-ec', `exec 2>&1\n${pasted(block.text)}\npwd > '${end}'`], {
      cwd,
      env: environment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    if (!fits(stdout, pasted(expected))) expect(stdout, `${where} prints something else`).toBe(pasted(expected));
    cwd = (await readFile(end, 'utf8')).trim();
  }
}

async function makeFolder(name: string): Promise<string> {
  const home = join(folder, name);
  await mkdir(home);
  return home;
}

it('npx says in a clone that is not built yet how to build it', { timeout: PAGE_TIMEOUT_MS }, async () => {
  const command = run('npx', ['terrarium-emulator', 'doctor'], { cwd: repository, env: environment() });
  await expect(command).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Run `npm start`') });
});

it('README works from top to bottom in a clean clone', { timeout: PAGE_TIMEOUT_MS }, async () => {
  await runPage('README.md', await makeFolder('readme'));
});

it('the install page works in a clean clone, and the CI examples in the project that it installs into', {
  timeout: PAGE_TIMEOUT_MS,
}, async () => {
  const home = await makeFolder('install');
  const project = join(home, 'my-project');
  await mkdir(project);
  const check = "const { ok } = await fetch(process.env.TERRARIUM_META_URL + '/health');\nprocess.exit(ok ? 0 : 1);\n";
  await writeFile(join(project, 'check.mjs'), check);
  const manifest = { name: 'my-project', private: true, scripts: { test: 'node check.mjs' } };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(project, '.gitignore'), 'node_modules\n');
  await commitAll(project);
  await runPage('docs/get-started/install.md', home);

  const example = async (name: string) => parse(await readFile(packageFile(`docs/examples/${name}`), 'utf8'));
  const { jobs } = await example('github-actions.yml');
  const { 'in-the-job': inTheJob } = await example('gitlab-ci.yml');
  const workflow = jobs.test.steps.flatMap(({ run: line }: { run?: string }) => line ?? []);
  // The runner has neither the packages of the developer's npm nor a registry.
  const offline = { npm_config_cache: join(home, 'cache'), npm_config_registry: 'http://127.0.0.1:9/' };
  for (const [name, script] of Object.entries<string[]>({ workflow, job: inTheJob.script })) {
    await run('git', ['clone', '--quiet', project, join(home, name)], { env: environment() });
    await run('bash', ['-ec', script.join('\n')], { cwd: join(home, name), env: environment(offline) });
  }
});
