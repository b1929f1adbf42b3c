import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand, CliRunner } from '../testing/command.ts';

describe('terrarium ui', () => {
  let cli: CliRunner;

  beforeAll(async () => {
    await buildCommand();
    cli = new CliRunner();
    await cli
      .start(['--headless', '--base-port', '0', '--gateway-port', '0', '--seed', 'empty'])
      .waitForOutput('Ctrl+C');
  });
  afterAll(() => cli?.close());

  /** Signs in like the page of the window. */
  const signIn = (address: string) => {
    const { port, searchParams } = new URL(address);
    // Only browsers resolve the window's host name on all systems.
    return fetch(`http://127.0.0.1:${port}/inspect/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: searchParams.get('code') }),
    });
  };

  it('prints an address that signs in as root, once', async () => {
    const { exitCode, out, err } = await cli.run(['ui', '--print']);
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toMatch(/^http:\/\/terrarium\.localhost:\d+\/ui\/\?code=[\w-]+\n$/);
    const first = await signIn(out.trim());
    expect([first.status, first.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('HttpOnly')]);
    const second = await signIn(out.trim());
    expect([second.status, await second.text()]).toEqual([401, expect.stringContaining('npx terrarium-emulator ui')]);
  });

  it('prints why it does not open the window', async () => {
    const { exitCode, out } = await cli.runInProcess(['ui'], { env: { CI: 'true' } });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/code=[\w-]+\nThe window was not opened because the variable CI is set .*\.\n$/);
    expect((await cli.runInProcess(['ui'], { env: { TERRARIUM_HEADLESS: 'true' } })).out).toMatch(/^http\S+\n$/);
  });

  it('prints only JSON with --json, and requires the key of the platform', async () => {
    expect(await cli.json('ui')).toEqual({ url: expect.stringContaining('/ui/?code=') });
    const { exitCode, err } = await cli.runInProcess(['ui', '--print', '--key', 'none', '--secret', 'none']);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('Set the correct --key and --secret')]);
  });

  it('says what to do if no platform is running', async () => {
    const { exitCode, err } = await cli.runInProcess(['ui', '--instance', 'none']);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('Start one with `npx terrarium-emulator start`')]);
  });
});
