import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basic, send } from '../server/testing/checked-client.ts';
import { buildCommand, CliRunner, type RunningCommand } from '../server/testing/command.ts';
import { isMissing } from '../server/testing/is-missing.ts';

/** A platform whose wall clock is set while it runs, and whose monotonic clock is not: as after a night in which the machine slept. */
const KEY = { TERRARIUM_ROOT_API_KEY: 'night', TERRARIUM_ROOT_API_SECRET: 'test' };
const LIBRARY = '/usr/$LIB/faketime/libfaketimeMT.so.1';
const HOUR_S = 3_600;

const cli = new CliRunner();
const clockFile = join(cli.folder, 'clock');
const clockEnv = {
  LD_PRELOAD: LIBRARY,
  FAKETIME_TIMESTAMP_FILE: clockFile,
  FAKETIME_NO_CACHE: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
};
beforeAll(buildCommand);
afterAll(() => cli.close());

const setClock = (hours: number) => writeFileSync(clockFile, `${hours < 0 ? '' : '+'}${hours * HOUR_S}\n`);
const stop = ({ child, ended }: RunningCommand) => {
  child.kill('SIGTERM');
  return ended;
};
const machineTimeS = () => Date.now() / 1000;

async function start() {
  const readyFile = join(cli.folder, 'ready.json');
  const args = [
    'start',
    '--headless',
    '--data',
    join(cli.folder, 'data'),
    '--seed',
    'empty',
    '--ready-file',
    readyFile,
  ];
  const run = cli.start([...args, '--base-port', '0', '--gateway-port', '0'], { env: { ...KEY, ...clockEnv } });
  await run.waitForOutput('Ctrl+C');
  const { securityUrl } = JSON.parse(readFileSync(readyFile, 'utf8')) as { securityUrl: string };
  const post = async (action: string, fields: Record<string, string>) =>
    (
      await send('POST', `${securityUrl}/root/oauth/${action}`, {
        auth: basic('night', 'test'),
        body: new URLSearchParams(fields),
      })
    ).body;
  return {
    run,
    issueToken: async (): Promise<string> => (await post('issue', { grant_type: 'client_credentials' })).access_token,
    inspect: (token: string): Promise<{ active: boolean; iat: number; exp: number }> => post('inspect', { token }),
  };
}

it.skipIf(isMissing('faketime'))(
  'a token issued after the clock was set has right times, and a restart keeps it and ends what is older than its lifetime',
  async () => {
    setClock(0);
    const first = await start();
    const oldToken = await first.issueToken();
    setClock(9);
    const newToken = await first.issueToken();
    const { active, iat, exp } = await first.inspect(newToken);
    expect(active).toBe(true);
    expect(exp - iat).toBe(8 * HOUR_S);
    expect(iat).toBeGreaterThan(machineTimeS() + 8 * HOUR_S);
    expect((await first.inspect(oldToken)).active, 'a step of the clock ends no token').toBe(true);
    await stop(first.run);

    const second = await start();
    expect((await second.inspect(newToken)).active, 'a token that is seconds old').toBe(true);
    expect((await second.inspect(oldToken)).active, 'a token that is nine hours old').toBe(false);
    setClock(-24);
    expect((await second.inspect(oldToken)).active, 'setting the clock back revives nothing').toBe(false);
    expect((await second.inspect(newToken)).active).toBe(true);
    await stop(second.run);
  },
);
