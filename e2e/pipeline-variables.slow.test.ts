import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/checked-client.ts';
import { buildCommand, CliRunner } from '../server/testing/command.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import type { Body } from '../server/testing/tenant.ts';

const SECRET = 'fern-Secret-4711';
/** Prints the variables of its job and of its definition. */
const DEFINITION = `look:
  script:
    - echo "key $CRM_KEY of $RAW"
    - cat "$CA"
    - echo "tier $TIER, org $PLATFORM_TARGET_ORG_NAME, plan $PLAN"
    - test -z "$FOR_MAIN" || echo "unprotected"
    - env | sed 's/=.*//' | sed 's/^/job has /'
`;

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'terrarium-variables-'));
const data = join(folder, 'data');
let platform: Platform;
let cli: CliRunner;

beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  platform = await startPlatform({ seed: 'demo', data });
  await run('git', ['init', '-q', '-b', 'feature/a', join(folder, 'app')]);
  await writeFile(join(folder, 'app', '.gitlab-ci.yml'), DEFINITION);
  const gitConfig = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await run('git', ['-C', join(folder, 'app'), 'add', '-A']);
  await run('git', ['-C', join(folder, 'app'), ...gitConfig, 'commit', '-q', '-m', 'Look around']);
});
afterAll(async () => {
  await platform?.stop();
  await cli?.close();
  await rm(folder, { recursive: true, force: true });
});

const pipeline = (...more: string[]) => {
  const { baseUrl, rootCredentials } = platform.emulator;
  const where = ['--branch', 'feature/a', '--project', 'fern-moss/shop', '--base-url', baseUrl, ...more];
  const { apiKey, apiSecret = '' } = rootCredentials;
  const env = { TERRARIUM_API_KEY: apiKey, TERRARIUM_API_SECRET: apiSecret, HOME: folder };
  return cli.run(['pipeline', 'run', join(folder, 'app'), ...where], { env });
};
const inspect = async (path: string): Promise<Body> =>
  (await send('GET', `${platform.emulator.baseUrl}/inspect/${path}`, { auth: rootPairOf(platform) })).body;

it("a project's variables reach jobs unchanged, and no other process", async () => {
  const { scmUrl, scmToken } = platform.emulator;
  for (const body of [
    { key: 'CRM_KEY', value: SECRET, masked: true },
    { key: 'RAW', value: '$HOME', raw: true },
    { key: 'CA', value: `in a file: ${SECRET}\n`, variable_type: 'file' },
    { key: 'FOR_MAIN', value: 'x', protected: true },
  ]) {
    const headers = { 'PRIVATE-TOKEN': scmToken };
    expect(await send('POST', `${scmUrl}/api/v4/projects/101/variables`, { body, headers })).toMatchObject({
      status: 201,
    });
  }
  for (const body of [
    { key: 'TIER', value: 'of the group' },
    { key: 'PLATFORM_TARGET_ORG_NAME', value: 'of-the-group', masked: true },
    { key: 'CRM_KEY', value: 'never' },
    { key: 'PLAN', value: 'for all projects' },
  ]) {
    const headers = { 'PRIVATE-TOKEN': scmToken };
    await send('POST', `${scmUrl}/api/v4/groups/fern-moss/variables`, { body, headers });
  }
  const { exitCode, out, err } = await pipeline('--variable', 'TIER=typed');
  expect(exitCode, `${out}${err}`).toBe(0);
  expect(out).toContain('key [masked] of $HOME');
  expect(out).toContain('in a file: [masked]');
  // Precedence: command line, project, groups, platform.
  expect(out).toContain('tier typed, org [masked], plan for all projects');
  expect(out).toContain("only the protected branch 'main' gets them: FOR_MAIN");
  expect(out).not.toContain('> unprotected');
  expect(out).toContain('job has PATH');
  expect(out).not.toMatch(/job has TERRARIUM_\w+/);

  const [{ id }] = await inspect('pipelines');
  expect((await inspect(`pipelines/${id}`)).log.join('\n')).toContain('key [masked]');
  const journalText = await readFile(join(data, 'pipelines.jsonl'), 'utf8');
  expect(journalText).toContain('key [masked]');
  for (const text of [out, err, journalText]) expect(text).not.toContain(SECRET);
});
