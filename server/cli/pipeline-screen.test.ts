import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { RunLog } from '../runtimes/pipelines/run-log.ts';
import { PipelineScreen } from './pipeline-screen.ts';
import { writersTo } from './terminal.ts';

const esc = '\u001b';
const jobs = ['build', 'test'].map((name) => ({ name, stage: 'test', state: 'waiting' as const }));

/** Resolves to the content of the terminal after a run whose jobs printed something. */
async function terminalAfter(print: (log: RunLog, screen: PipelineScreen) => void): Promise<string> {
  const out = new PassThrough();
  const terminal = { ...writersTo(out, out, { isScreen: true, hasColour: true }), hasColour: true, nowMs: () => 0 };
  const screen = new PipelineScreen(terminal);
  const { reportLine, onSection } = screen;
  const log = new RunLog({ jobs, secrets: ['hunter2'], reportLine, onSection, report: async () => undefined });
  print(log, screen);
  log.end();
  return text(out.end());
}
const plain = (output: string) =>
  stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.replace(/^\[[^\]]*\] /, '').trimEnd());

it('a collapsed section shows its title and the number of its lines', async () => {
  const output = await terminalAfter((log) => {
    log.printed('build', `${esc}[0Ksection_start:1:fetch[collapsed=true]`);
    log.printed('build', `${esc}[0KFetch packages`);
    log.printed('test', 'of another job');
    log.printed('build', 'package a');
    log.printed('build', `${esc}[0Ksection_start:1:inside`);
    log.printed('build', `${esc}[0KInside`);
    log.printed('build', `${esc}[0Ksection_end:1:inside`);
    log.printed('build', `${esc}[0K`);
    log.printed('build', `${esc}[0Ksection_end:2:fetch`);
    log.printed('build', `${esc}[0K`);
    log.printed('build', 'after');
  });
  expect(plain(output)).toEqual([
    'build  > Fetch packages',
    'test   > of another job',
    '  build: 2 lines collapsed, 0 ms',
    'build  > after',
    '',
  ]);
});

it('the lines of a collapsed section in which the job ends are shown', async () => {
  const output = await terminalAfter((log) => {
    log.printed('build', `${esc}[0Ksection_start:1:fetch[collapsed=true]`);
    log.printed('build', `${esc}[0KFetch packages`);
    log.printed('build', 'network is down');
    log.note('build', 'finished in 1.0 s  FAIL 1');
  });
  expect(plain(output)).toEqual([
    'build  > Fetch packages',
    'build  > network is down',
    'build  finished in 1.0 s  FAIL 1',
    '',
  ]);
});

it('colors of a job are kept and end with the line, other sequences are removed', async () => {
  const output = await terminalAfter((log) => log.printed('build', `${esc}[1;31mred ${esc}[2J${esc}[8mhunter2`));
  expect(output).toContain(`> ${esc}[1;31mred [masked]${esc}[0m\n`);
});

it('the summary has states, times, the failing command with its first complaint, and what was deployed', async () => {
  const output = await terminalAfter((log, screen) => {
    for (const line of ['\u0001$ npm ci', 'error: ignored', '\u0001$ npm test', 'one', 'Error: two', 'three'])
      log.printed('test', line);
    for (const line of ['Running after_script', '\u0001$ cleanup']) log.printed('test', line);
    const tests = { total: 3, failed: 1, skipped: 0, failing: ['adds'] };
    screen.summarize({
      id: 'r1',
      state: 'failed',
      startedAtMs: 0,
      finishedAtMs: 4_200,
      jobs: [
        { name: 'build', stage: 'build', state: 'success', durationMs: 3_000, coverage: 81.5 },
        { name: 'test', stage: 'test', state: 'failed', durationMs: 480, exitCode: 1, tests },
        { name: 'deploy', stage: 'deploy', state: 'skipped' },
      ],
      apps: [{ name: 'shop', image: 'shop:1', url: 'http://localhost/shop', status: 200 }],
      project: { id: 1, path: 'fern-moss/shop' },
      branch: 'main',
      sha: 'a'.repeat(40),
      variables: { present: [], missing: [] },
      log: [],
    });
  });
  expect(plain(output).slice(8)).toEqual([
    '',
    'pipeline failed in 4.2 s',
    '  success  build   3.0 s                                 coverage 81.5%',
    '  failed   test    480 ms  3 tests, 1 failed, 0 skipped',
    '    $ npm test',
    '    > Error: two',
    '    failed test: adds',
    '  skipped  deploy',
    'deployed shop, shop:1 at http://localhost/shop, responded with 200',
    'all output: npx terrarium-emulator pipeline logs r1, artifacts: npx terrarium-emulator pipeline artifacts r1',
    '',
  ]);
  expect(output).toContain(`${esc}[31m  failed`);
});
