import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownerHere } from '../server/system/owner.ts';
import { buildCommand, CliRunner, type RunningCommand } from '../server/testing/command.ts';
import { canBeOtherUser, OTHER_USER_ID } from '../server/testing/other-user.ts';

describe.runIf(canBeOtherUser && process.platform === 'linux')('two users of one machine', () => {
  let cli: CliRunner;
  let platform: RunningCommand;
  /** The folder for temporary files that they share, and the working folder of the other user. */
  let [shared, otherUserFolder] = ['', ''];

  beforeAll(async () => {
    await buildCommand();
    cli = new CliRunner();
    shared = await mkdtemp(join(tmpdir(), 'shared-'));
    await chmod(shared, 0o1777);
    otherUserFolder = join(shared, 'own');
    await asOther('mkdir', otherUserFolder);
    platform = cli.start(['start', '--headless', '--base-port', '0', '--gateway-port', '0'], {
      env: { TMPDIR: shared },
    });
    await platform.waitForOutput('Ctrl+C');
  });
  afterAll(async () => {
    await cli?.close();
    if (shared) await rm(shared, { recursive: true });
  });

  async function asOther(...[command = '', ...args]: string[]) {
    const child = spawn(command, args, {
      cwd: command === 'mkdir' ? shared : otherUserFolder,
      env: { PATH: process.env.PATH, TMPDIR: shared },
      uid: OTHER_USER_ID,
      gid: OTHER_USER_ID,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { exitCode, out, err };
  }
  const terrarium = (line: string) => asOther('sh', '-c', `${CliRunner.command} ${line}`);

  it('run a platform each: files of the one in a shared folder do not stop the other, and stay', async () => {
    const abandonedFolder = join(shared, 'terrarium-import-abandoned');
    await mkdir(abandonedFolder, { mode: 0o755 });
    await writeFile(
      join(abandonedFolder, 'owner.json'),
      JSON.stringify({ ...(await ownerHere(undefined)), pid: 2 ** 22 }),
    );
    const { exitCode, err } = await terrarium(`exec -- ${CliRunner.command} invoke order-status`);
    expect([exitCode, err]).toEqual([0, '']);
    expect(await readdir(shared)).toContain('terrarium-import-abandoned');
  });

  it('get a sentence when they choose the same port', async () => {
    const { baseUrl } = JSON.parse(await readFile(join(cli.folder, '.terrarium', 'instance.json'), 'utf8'));
    const { exitCode, err } = await terrarium(`start --headless --base-port ${new URL(baseUrl).port}`);
    expect([exitCode, err]).toEqual([2, expect.stringMatching(/^terrarium: .*port.*\n$/s)]);
  });

  it('cannot use the data folder of the other, and get a sentence', async () => {
    const data = join(cli.folder, '.terrarium');
    const { exitCode, err } = await terrarium(`start --headless --base-port 0 --gateway-port 0 --data '${data}'`);
    expect([exitCode, err.split('\n')]).toEqual([2, [expect.stringMatching(/^terrarium: /), '']]);
    expect((await terrarium(`token --data '${data}'`)).exitCode).not.toBe(0);
  });
});
