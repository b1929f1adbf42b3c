import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRunners, vitest3 } from '../scripts/extra-packages.mjs';
import { packageFile } from '../server/system/package-file.ts';
import { buildCommand } from '../server/testing/command.ts';

// The library in the test suites of other projects: their runners, their documents, and what they replace in their own process.

const LIMIT_MS = 120_000;
/** The parts of the package that a test suite loads. */
const PARTS = ['package.json', 'entries', 'dist/server', 'fixtures/worlds', 'fixtures/lambdas'];
const installed = join(testRunners, 'node_modules');

let project: string;
beforeAll(async () => {
  if (!existsSync(installed)) {
    throw new Error(`${installed} does not exist. Run \`node scripts/extra-packages.mjs\`.`);
  }
  await buildCommand();
  project = await mkdtemp(join(tmpdir(), 'terrarium-suites-'));
  const library = join(installed, 'terrarium-emulator');
  await rm(library, { recursive: true, force: true });
  for (const part of PARTS) await cp(packageFile(part), join(library, part), { recursive: true });
  await symlink(installed, join(project, 'node_modules'));
  await writeFile(join(project, 'package.json'), '{ "name": "suites", "private": true }');
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs a program of the project with a test file; resolves to its exit code and all its output. */
async function runTests(program: readonly string[], file: string, text: string) {
  await mkdir(dirname(join(project, file)), { recursive: true });
  await writeFile(join(project, file), text);
  const env = { PATH: `${process.env.PATH}`, HOME: project, NO_COLOR: '1' };
  const options = { cwd: project, env, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(process.execPath, [...program, file], options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );
}

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout', '60000'];
const JEST = ['node_modules/jest/bin/jest.js', '--rootDir', '.', '--testTimeout', '60000', '--testRegex', '[.]cjs$'];
const MOCHA = ['node_modules/mocha/bin/mocha.js', '--timeout', '60000'];

const LEAD = `
  const { outcome } = await platform.invoke('contact-form', { payload: { email: 'ada@example.com' } });
  const lead = await platform.leads.waitFor({ email: 'ada@example.com', since: new Date(0) });
  if (outcome.result !== 'SUCCESS' || lead.mapped.email !== 'ada@example.com') throw new Error(JSON.stringify({ outcome, lead }));`;
const TRIAL = `
  const platform = await startEmulator({ containers: { engine: 'none' } });
  ${LEAD}
  await platform.reset();
  if ((await platform.leads.list()).length > 0) throw new Error('the lead was not removed');
  await platform.stop();`;

const vitestFile = (inside: string, head = '') => `${head}
  import { startEmulator } from 'terrarium-emulator';
  import { expect, test, vi } from 'vitest';
  test('catches a lead', async () => { ${inside} });`;
const jestFile = (inside: string, head = '') => `${head}
  const { startEmulator } = require('terrarium-emulator');
  test('catches a lead', async () => { ${inside} });`;
const nodeFile = (inside: string, head = '') => `${head}
  import { startEmulator } from 'terrarium-emulator';
  import test, { mock } from 'node:test';
  test('catches a lead', async () => { ${inside} });`;
const mochaFile = (inside: string, head = '') => `${head}
  import { startEmulator } from 'terrarium-emulator';
  it('catches a lead', async () => { ${inside} });`;

/** Its function `unused` is never called. */
const LAMBDA = `interface Payload {
  payload: number;
}
export const run = (event: string, context: string, callback: (error: null, value: number) => void) =>
  callback(null, double((JSON.parse(event) as Payload).payload));
function unused(): number {
  return 1;
}
function double(value: number): number {
  return 2 * value;
}
`;

/** Answers a request of this process while the process itself is blocked. */
const BLOCKING = `
  const platform = await startEmulator({ containers: { engine: 'none' } });
  const script = 'fetch(process.argv[1] + "/status").then(({ status }) => console.log(status))';
  const output = execFileSync(process.execPath, ['-e', script, platform.metaUrl], { encoding: 'utf8', timeout: 60_000 });
  if (!/^[1-5]\\d\\d\\n$/.test(output)) throw new Error(output);
  if (!platform.windowUrl().includes('code=')) throw new Error('no code');
  await platform.stop();`;

// The comments that choose an environment are put together, because the runner of this file would follow them.
const SUITES: readonly (readonly [title: string, program: readonly string[], file: string, text: string])[] = [
  ['Vitest 3', VITEST.with(0, vitest3), 'three.test.mjs', vitestFile(TRIAL)],
  ['Vitest with jsdom', VITEST, 'jsdom.test.mjs', vitestFile(TRIAL, `// @vitest-${'environment'} jsdom`)],
  [
    'Vitest with all timers replaced',
    VITEST,
    'timers.test.mjs',
    vitestFile(`vi.useFakeTimers({ now: 0 }); ${TRIAL} vi.useRealTimers();`),
  ],
  [
    'Vitest with a stubbed fetch, in a separate virtual machine',
    [...VITEST, '--pool', 'vmThreads'],
    'fetch.test.mjs',
    vitestFile(`vi.stubGlobal('fetch', () => { throw new Error('the stub was called'); }); ${TRIAL}`),
  ],
  [
    'Vitest in threads, while a client blocks the tests',
    [...VITEST, '--pool', 'threads'],
    'blocking.test.mjs',
    vitestFile(BLOCKING, "import { execFileSync } from 'node:child_process';"),
  ],
  ['Jest with jsdom', JEST, 'jsdom.cjs', jestFile(TRIAL, `/** @jest-${'environment'} jsdom */`)],
  ['Jest with all timers replaced', JEST, 'timers.cjs', jestFile(`jest.useFakeTimers(); ${TRIAL}`)],
  [
    "Node.js' test runner with all timers replaced",
    ['--test'],
    'timers.mjs',
    nodeFile(`mock.timers.enable(); ${TRIAL} mock.timers.reset();`),
  ],
  [
    'Mocha with the timers of sinon',
    MOCHA,
    'sinon.mjs',
    mochaFile(`const clock = sinon.useFakeTimers(); ${TRIAL} clock.restore();`, "import sinon from 'sinon';"),
  ],
  [
    'Mocha with a network that nock has disconnected',
    MOCHA,
    'nock.mjs',
    mochaFile(`nock.disableNetConnect(); ${TRIAL}`, "import nock from 'nock';"),
  ],
  [
    'Mocha with a server of msw that refuses every request',
    MOCHA,
    'msw.mjs',
    mochaFile(
      `const server = setupServer(); server.listen({ onUnhandledRequest: 'error' }); ${TRIAL} server.close();`,
      "import { setupServer } from 'msw/node';",
    ),
  ],
];

describe('the library in a test suite', () => {
  it.each(SUITES)('works under %s', async (_, program, file, text) => {
    const { code, output } = await runTests(program, file, text);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    expect(output).not.toContain('still running');
  });

  it('calls the hooks of the test suite with what happened in the thread', async () => {
    const inside = `
      const seen = [];
      const hooks = { onInvocation: ({ lambdaName, logs }) => seen.push(lambdaName, ...logs.map(({ text }) => text)) };
      const platform = await startEmulator({ seed: 'empty', containers: { engine: 'none' } }, hooks);
      await platform.deploy('talks', { code: "exports.run = () => console.log('hello')" });
      await platform.invoke('talks');
      for (const event of [() => {}, { nested: () => {} }, 1n]) {
        const code = await platform.invoke('talks', event).catch((failure) => failure.code);
        if (code !== 'REFUSED') throw new Error(code);
      }
      await platform.stop();
      if (seen.join() !== 'talks,hello') throw new Error(seen.join());`;
    const { code, output } = await runTests(['--test'], 'hooks.mjs', nodeFile(inside));
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  });

  it('names the line of the test whose call failed', async () => {
    const inside = `
      const platform = await startEmulator({ seed: 'empty', containers: { engine: 'none' } });
      const failed = await platform.invoke('missing').catch((error) => error);
      await platform.stop();
      const stopped = await platform.token().catch((error) => error);
      for (const { message, stack } of [failed, stopped]) {
        if (!stack.startsWith(\`Error: \${message}\\n\`) || !stack.includes('names-line.test.mjs')) throw new Error(stack);
      }`;
    const { code, output } = await runTests(['--test'], 'names-line.test.mjs', nodeFile(inside));
    expect({ code, output }).toMatchObject({ code: 0 });
  });

  it('gives lambdas the events that JSON makes of the values of a test', async () => {
    const inside = `
      const platform = await startEmulator({ seed: 'empty', containers: { engine: 'none' } });
      await platform.deploy('echo', { code: 'exports.run = async (event) => event' });
      const events = [undefined, null, new URL('http://a.example/'), { bytes: Buffer.from('a'), at: new Date(0), none: undefined }];
      const results = [];
      for (const event of events) results.push((await platform.invoke('echo', event)).outcome.result);
      await platform.stop();
      const expected = events.map((event) => (event === undefined ? '{}' : JSON.stringify(event)));
      if (results.join() !== expected.join()) throw new Error(results.join());`;
    const { code, output } = await runTests(['--test'], 'events.mjs', nodeFile(inside));
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  });

  it('measures the coverage of the TypeScript of a lambda', async () => {
    await mkdir(join(project, 'lambda'));
    await writeFile(join(project, 'lambda', 'package.json'), '{ "main": "index.ts" }');
    await writeFile(join(project, 'lambda', 'index.ts'), LAMBDA);
    const inside = `
      const platform = await startEmulator({ seed: 'empty', containers: { engine: 'none' } });
      await platform.deploy('covered', { folder: 'lambda', handler: 'index.ts;run' });
      for (const payload of [1, 2]) await platform.invoke('covered', { payload });
      await platform.stop();`;
    const c8 = [
      'node_modules/c8/bin/c8.js',
      '--include',
      'lambda/**',
      '--reporter',
      'text',
      process.execPath,
      '--test',
    ];
    const { code, output } = await runTests(c8, 'coverage.mjs', nodeFile(inside));
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/index[.]ts +[|] +\d[\d.]+ .*[|] 6-8 *$/m),
    });
  });

  it.each([
    ["Node.js' test runner", ['--test'], 'forgotten.mjs', nodeFile],
    ['Mocha', MOCHA, 'forgotten.mocha.mjs', mochaFile],
  ] as const)(
    'ends with %s when its stop was forgotten, and prints a line about it',
    async (_, program, file, textOf) => {
      const { code, output } = await runTests(program, file, textOf(`const platform = await startEmulator(); ${LEAD}`));
      expect({ code, output }).toEqual({
        code: 0,
        output: expect.stringContaining('was still running when its process ended'),
      });
    },
  );
});
