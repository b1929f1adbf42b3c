import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand, CliRunner } from '../server/testing/command.ts';

/** A user that the system knows by number only, as `docker run --user` and OpenShift have them. */
const USER_ID = 54_321;
const run = promisify(execFile);
let folder: string;
let app: string;

/** Runs a shell's command as that user, without HOME; the checkout has to be readable for all. */
async function runAsUser(command: string) {
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: { PATH: process.env.PATH, TMPDIR: join(folder, 'tmp') },
    uid: USER_ID,
    gid: USER_ID,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { exitCode, out, err };
}

// Only root can start a process of another user.
describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('a user without a name and a home', () => {
  beforeAll(async () => {
    await buildCommand();
    folder = await mkdtemp(join(tmpdir(), 'terrarium nameless '));
    app = join(folder, 'app');
    await run('git', ['init', '-q', '-b', 'main', app]);
    await writeFile(join(app, '.gitlab-ci.yml'), 'unit: {script: ["echo run by $(id -u)"]}\n');
    await run('git', ['-C', app, 'add', '--all']);
    await run('git', ['-C', app, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-qm', 'Begin']);
    await mkdir(join(folder, 'tmp'));
    await run('chown', ['-R', `${USER_ID}:${USER_ID}`, folder]);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('starts a platform in memory and in a folder, and looks for the engine', async () => {
    const { exitCode, out, err } = await runAsUser(`${CliRunner.command} exec -- ${CliRunner.command} status`);
    expect(err).toBe('');
    expect(exitCode, out).toBe(0);
    const folderResult = await runAsUser(`${CliRunner.command} exec --data kept -- ${CliRunner.command} status`);
    expect(folderResult).toMatchObject({ exitCode: 0, err: '' });
    const { out: looked, err: fault } = await runAsUser(`${CliRunner.command} doctor --offline`);
    expect(`${looked}${fault}`).not.toContain('a fault of');
    const clean = await runAsUser(`${CliRunner.command} clean`);
    expect(clean.err).not.toContain('a fault of');
  });

  it('runs a pipeline, and again with the cache of the first run', async () => {
    const command = `${CliRunner.command} exec -- ${CliRunner.command} pipeline run '${app}' --shell`;
    for (const _attempt of ['first', 'second']) {
      const { exitCode, out, err } = await runAsUser(command);
      expect(err).toBe('');
      expect(out).toContain(`> run by ${USER_ID}`);
      expect(exitCode).toBe(0);
    }
    const leftoverFolders = (await readdir(join(folder, 'tmp'))).filter((name) => name.startsWith('terrarium'));
    expect(leftoverFolders).toEqual([`terrarium-pipelines-of-${USER_ID}`]);
  });
});
