import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CodeBlock, type Page, userPages } from '../scripts/read-docs.ts';
import { packageFile } from '../server/system/package-file.ts';
import { expectedOutput, fits, isInClone, isNotRun, isShell } from './page-blocks.ts';

/**
 * Runs the commands of every page, as pasted, beside one platform that all pages share, and compares what they print.
 *
 * A block `sh` is run. The next block, if it is `text` or `json`, is its expected output, in which `...` represents anything; without
 * one the commands print nothing. After `sh` there may be `exit=N`, and `not-run: reason` for what cannot be run here, or
 * `in-clone` for what first-clone.slow.test.ts runs. A block with `file=NAME` is written to that file. Of what is pasted only `npx terrarium-emulator` and the port numbers are other ones.
 */
const READY_TIMEOUT_MS = 60_000;
const END = '\u001e';

/** Number of blocks that are not run, by page: update it when you add one. */
const NOT_RUN: Record<string, number> = {
  'docs/get-started/connect-your-client.md': 1,
  'docs/get-started/install.md': 2,
  'docs/guides/agents.md': 2,
  'docs/guides/back-up-and-move.md': 2,
  'docs/guides/ci.md': 3,
  'docs/guides/containers.md': 2,
  'docs/guides/debug-a-web-form-lambda.md': 2,
  'docs/guides/give-a-demo.md': 4,
  'docs/guides/publish.md': 1,
  'docs/guides/run-a-pipeline.md': 7,
  'docs/guides/swarm.md': 5,
  'docs/guides/work-as-a-team.md': 1,
  'docs/guides/your-own-lambda.md': 1,
  'docs/reference/cli/index.md': 1,
  'docs/reference/durability.md': 1,
  'README.md': 1,
};

const pages = userPages().filter(({ blocks }) => blocks.some(isShell));

let folder: string;
let server: ReturnType<typeof spawn>;
let ports: { base: string; gateway: string };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-docs-'));
  const command = packageFile('dist/server/cli.js');
  const bin = path.join(folder, 'bin');
  await mkdir(bin);
  // Replaces npx, which takes a second to find the package. e2e/package.slow.test.ts uses the real one.
  const npx = `#!/bin/sh\n[ "$1" = terrarium-emulator ] || { echo "npx $1: not in the documentation's tests" >&2; exit 127; }\nshift\nexec '${process.execPath}' '${command}' "$@"\n`;
  await writeFile(path.join(bin, 'npx'), npx);
  await chmod(path.join(bin, 'npx'), 0o755);
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(packageFile('.'), path.join(folder, 'node_modules', 'terrarium-emulator'), 'junction');
  const readyFile = path.join(folder, 'ready.json');
  const free = ['--base-port', '0', '--gateway-port', '0', '--crm-port', '0', '--scm-port', '0', '--headless'];
  server = spawn(process.execPath, [command, 'start', ...free, '--ready-file', readyFile], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await vi.waitFor(() => readFile(readyFile, 'utf8'), { timeout: READY_TIMEOUT_MS, interval: 50 });
  const { baseUrl, gatewayUrl } = JSON.parse(await readFile(readyFile, 'utf8'));
  ports = { base: new URL(baseUrl).port, gateway: new URL(gatewayUrl).port };
});

afterAll(async () => {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await rm(folder, { recursive: true });
});

async function rootPassword(): Promise<string> {
  const { root } = JSON.parse(await readFile(path.join(folder, '.terrarium', 'passwords.json'), 'utf8'));
  return root;
}

/** Environment of a shell without settings for Terrarium. */
function environment(): NodeJS.ProcessEnv {
  const inheritedVariables = Object.entries(process.env).filter(([name]) => !/^(TERRARIUM|PLATFORM|SCM)_/.test(name));
  return {
    ...Object.fromEntries(inheritedVariables),
    PATH: `${path.join(folder, 'bin')}${path.delimiter}${process.env.PATH}`,
  };
}

const withPorts = (text: string) => text.replaceAll(':4700', `:${ports.base}`).replaceAll(':4701', `:${ports.gateway}`);
const withoutPorts = (text: string) =>
  text.replaceAll(`:${ports.base}`, ':4700').replaceAll(`:${ports.gateway}`, ':4701');

/** Runs a script in the folder of the platform; resolves to its output on both streams. */
async function bash(script: string): Promise<string> {
  const options = { cwd: folder, env: environment(), maxBuffer: 16 * 1024 * 1024, timeout: 100_000 };
  const { stdout } = await promisify(execFile)('bash', ['-c', `exec 2>&1\n${withPorts(script)}`], options);
  return withoutPorts(stdout);
}

// The pages share a platform, and its logs stay when the world is reset: the pages keep the order in which a reader meets them.
describe('the commands of a page', { shuffle: false }, () => {
  beforeEach(async () => {
    const base = `http://127.0.0.1:${ports.base}`;
    const body = new URLSearchParams({ grant_type: 'password', username: 'root', password: await rootPassword() });
    const issued = await fetch(`${base}/security/root/oauth/issue`, { method: 'POST', body });
    const { access_token: token } = JSON.parse(await issued.text());
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    for (const [method, route, json] of [
      ['POST', 'reset', { seed: 'demo' }],
      ['PUT', 'outbound', { rules: [] }],
      ['DELETE', 'leads', undefined],
    ] as const) {
      const response = await fetch(`${base}/inspect/${route}`, { method, headers, body: JSON.stringify(json) });
      expect(response.ok, await response.text()).toBe(true);
    }
  });

  it.each(pages)('$path print the expected output', async (page) => {
    await runPage(page);
  });
});

async function runPage({ path: file, blocks }: Page): Promise<void> {
  const run: { block: CodeBlock; expected: string; exit: string }[] = [];
  let script = '';
  for (const [index, block] of blocks.entries()) {
    const [, name] = /(?:^| )file=(\S+)/.exec(block.info) ?? [];
    if (name) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), block.text);
    }
    if (!isShell(block) || isNotRun(block) || isInClone(block)) continue;
    run.push({
      block,
      expected: expectedOutput(blocks, index),
      exit: /(?:^| )exit=(\d+)/.exec(block.info)?.[1] ?? '0',
    });
    script += `${block.text}\nprintf '${END}%s${END}' "$?"\n`;
  }
  if (run.length === 0) return;
  const parts = (await bash(script)).split(END);
  for (const [index, { block, expected, exit }] of run.entries()) {
    const where = `${file}:${block.line}`;
    const [output = '', status] = [parts[2 * index], parts[2 * index + 1]];
    expect(`${where} ends with ${status}`, output).toBe(`${where} ends with ${exit}`);
    if (!fits(output, expected)) expect(output, `${where} prints something else`).toBe(expected);
  }
}

it('are run, except for marked and counted ones', () => {
  const marked = pages.flatMap((page) => {
    const count = page.blocks.filter(isNotRun).length;
    return count > 0 ? [[page.path, count] as const] : [];
  });
  expect(Object.fromEntries(marked)).toEqual(NOT_RUN);
  const all = pages.flatMap(({ blocks }) => blocks).filter(isShell);
  expect(all.filter(isNotRun).length).toBeLessThan(all.length / 2);
});
