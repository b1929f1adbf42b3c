import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { packageFile } from '../system/package-file.ts';
import { beginOf } from '../system/processes.ts';
import { temporaryVariable } from '../system/temporary.ts';
import { buildCommand, CliRunner } from '../testing/command.ts';
import { isAlive } from '../testing/is-alive.ts';
import { isMissing } from '../testing/is-missing.ts';

let cli: CliRunner;
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
});
afterAll(() => cli?.close());

const folderOf = (instance: string) => join(cli.folder, '.terrarium', 'instances', instance);
const noDocker = { DOCKER_HOST: 'tcp://127.0.0.1:1' };
const start = async (...args: string[]) => {
  const run = cli.start(['start', ...args]);
  await run.waitForOutput('Ctrl+C');
  return run;
};

describe('init', () => {
  const init = (...args: string[]) => cli.runInProcess(['init', ...args]);

  it('keeps package.json and .gitignore, and says what to do with them', async () => {
    const folder = join(cli.folder, 'repository');
    mkdirSync(folder);
    for (const file of ['package.json', '.gitignore']) writeFileSync(join(folder, file), '{}');
    const { exitCode, out } = await init('repository');
    expect(exitCode).toBe(0);
    expect(out).toContain('node --test');
    expect(out).toContain('add .terrarium/');
    for (const file of ['package.json', '.gitignore']) expect(readFileSync(join(folder, file), 'utf8')).toBe('{}');
    expect(readdirSync(folder, { recursive: true })).toEqual(
      expect.arrayContaining(['world.yaml', join('lambda', 'index.js'), join('test', 'lead.test.mjs')]),
    );
  });

  it('writes a lambda that runs where files that end with .js are modules', async () => {
    const folder = join(cli.folder, 'of modules');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    expect((await init('of modules')).out).toContain('cd "of modules"\n');
    const seed = ['--seed', join(folder, 'world.yaml')];
    const event = JSON.stringify({ payload: { email: 'ada@example.com' } });
    const call = `${CliRunner.command} invoke lead --event '${event}'`;
    expect(await cli.run(['exec', ...seed, '--', 'sh', '-c', call])).toMatchObject({ exitCode: 0 });
  });

  it('prints how to install Terrarium where it is not installed, because npx would look for it on npm', async () => {
    const [start, end] = (await init('new project')).out.replaceAll('"', '').split(packageFile('.'));
    expect(start).toMatch(/cd new project\n {2}npm install --save-dev $/);
    expect(end).toBe(`\n  ${SHELL_COMMAND} dev\n`);
    for (const installed of [join('node_modules', 'terrarium-emulator'), '.pnp.cjs']) {
      const folder = mkdtempSync(join(cli.folder, 'with packages '));
      mkdirSync(join(folder, installed), { recursive: true });
      const { out } = await cli.runInProcess(['init', 'lambdas'], { folder });
      expect(out).toMatch(/Next:\n {2}cd lambdas\n {2}npx terrarium-emulator dev\n$/);
    }
  });

  it.runIf(process.platform === 'linux')('names the folder that cannot be created', async () => {
    expect(await init('/proc/none')).toMatchObject({ exitCode: 2, err: expect.stringContaining("'/proc/none'") });
  });

  it('writes nothing if a file exists, and names the file', async () => {
    const folder = join(cli.folder, 'occupied');
    mkdirSync(folder);
    writeFileSync(join(folder, 'world.yaml'), 'mine');
    const { exitCode, err } = await init('occupied', '--typescript');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('world.yaml, so nothing was written')]);
    expect(readdirSync(folder)).toEqual(['world.yaml']);
  });
});

describe('named instances', () => {
  it('run side by side, each with its own world, which reset leaves alone while it is in use', async () => {
    const runs = await Promise.all([start('--instance', 'one'), start('--instance', 'two', '--seed', 'empty')]);
    const [first, two] = await Promise.all(['one', 'two'].map((name) => cli.json('status', '--instance', name)));
    expect([first.pid, two.pid]).toEqual(runs.map(({ child }) => child.pid));
    const names = ['one', 'two'].map((name) => cli.json('export', '--instance', name));
    expect((await Promise.all(names)).map(({ orgs = {} }) => Object.keys(orgs))).toEqual([['demo'], []]);

    const refused = await cli.run(['reset', '--instance', 'two']);
    expect([refused.exitCode, refused.err]).toEqual([
      2,
      expect.stringContaining(`in use by process ${two.pid}. Stop it with Ctrl+C or \``),
    ]);
    for (const { child } of runs) child.kill('SIGTERM');
    for (const { ended } of runs) expect(await ended).toMatchObject({ exitCode: 0, err: '' });
  });

  it('are found from a folder below the project, where start says which one it uses', async () => {
    for (const name of ['.terrarium', 'lambda/deep']) mkdirSync(join(cli.folder, name), { recursive: true });
    const deep = join(cli.folder, 'lambda', 'deep');
    const run = cli.start(['start', '--instance', 'above', '--seed', 'empty'], { folder: deep });
    expect(await run.waitForOutput('Ctrl+C')).toContain(`Using the project in ${cli.folder}.\n`);
    expect(await cli.json('status', '--instance', 'above')).toMatchObject({ pid: run.child.pid });
    const status = await cli.runInProcess(['status', '--instance', 'above', '--json'], { folder: deep });
    expect(JSON.parse(status.out)).toMatchObject({ pid: run.child.pid, dataDir: folderOf('above') });
    const elsewhere = await cli.runInProcess(['status', '--data', 'here'], { folder: deep });
    expect([elsewhere.exitCode, elsewhere.out]).toEqual([1, expect.stringContaining(join(deep, 'here'))]);
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ exitCode: 0, err: '' });
  });

  it('are reset separately, and keep their keys', async () => {
    const first = await Promise.all([start('--instance', 'kept'), start('--instance', 'reset', '--seed', 'empty')]);
    for (const { child } of first) child.kill('SIGTERM');
    for (const { ended } of first) await ended;
    const key = readFileSync(join(folderOf('reset'), 'root-api-key.json'), 'utf8');
    const { setAside } = await cli.json('reset', '--instance', 'reset');
    expect(existsSync(join(setAside, 'world.json'))).toBe(true);
    expect(existsSync(join(folderOf('kept'), 'world.json'))).toBe(true);
    expect(await cli.json('reset', '--instance', 'reset')).toMatchObject({ setAside: null });

    const again = await start('--instance', 'reset');
    expect(Object.keys((await cli.json('export', '--instance', 'reset')).orgs)).toEqual(['demo']);
    expect(readFileSync(join(folderOf('reset'), 'root-api-key.json'), 'utf8')).toBe(key);
    again.child.kill('SIGTERM');
    await again.ended;
  });

  it('that have crashed are reported as not running', async () => {
    const run = await start('--instance', 'crashed');
    run.child.kill('SIGKILL');
    await run.ended;
    // The file still exists after the crash, but is ignored.
    expect(existsSync(join(folderOf('crashed'), 'instance.json'))).toBe(true);
    expect((await cli.runInProcess(['status', '--instance', 'crashed'])).exitCode).toBe(1);
    expect((await cli.runInProcess(['token', '--instance', 'crashed'])).err).toContain('no platform is running on');
  });

  it('are not affected by a reset of the default instance', async () => {
    mkdirSync(folderOf('bystander'), { recursive: true });
    writeFileSync(join(cli.folder, '.terrarium', 'world.json'), '{}');
    const { out } = await cli.runInProcess(['reset']);
    expect(out).toMatch(/^set aside in .*set-aside/);
    expect(readdirSync(join(cli.folder, '.terrarium')).sort()).toEqual(['instances', 'set-aside']);
    expect(existsSync(folderOf('bystander'))).toBe(true);
  });

  it.runIf(process.platform !== 'win32')('are not called stopped while their lock cannot be read', async () => {
    const data = folderOf('locked');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'world.json'), '{}');
    symlinkSync('lock', join(data, 'lock')); // a link to itself cannot be read, not even by root
    for (const command of ['status', 'stop', 'leads', 'reset']) {
      const { exitCode, out, err } = await cli.runInProcess([command, '--instance', 'locked']);
      const sentence = expect.stringContaining('lock cannot be read (ELOOP): another user');
      expect([command, exitCode, out, err]).toEqual([command, 2, '', sentence]);
    }
    expect(existsSync(join(data, 'world.json'))).toBe(true);
    // What does not depend on a running platform is checked all the same.
    const { exitCode, out } = await cli.runInProcess(['doctor', '--offline', '--instance', 'locked'], {
      env: noDocker,
    });
    expect([exitCode, out]).toEqual([1, expect.stringMatching(/missing +images .*lock cannot be read \(ELOOP\)/)]);
    expect(out).toMatch(/^ok +pipelines/m);
  });
});

describe('terrarium doctor', () => {
  it('succeeds without Docker, with a note that containers need an engine', async () => {
    const { exitCode, out } = await cli.runInProcess(['doctor', '--instance', 'new', '--json'], { env: noDocker });
    const { ok, checks } = JSON.parse(out);
    expect([exitCode, ok]).toEqual([0, true]);
    const docker = checks.find(({ name }: { name: string }) => name === 'Docker');
    expect(docker).toMatchObject({
      ok: false,
      isNeeded: false,
      message: expect.stringContaining('Only containers and jobs with an image need an engine.'),
    });
  });

  it('names the address of an engine that refuses to say what it is', async () => {
    const engine = createServer((_request, response) => response.writeHead(403).end('{"message": "not allowed"}'));
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    const { port } = engine.address() as AddressInfo; // as below
    const env = { DOCKER_HOST: `tcp://127.0.0.1:${port}` };
    const { out } = await cli.runInProcess(['doctor', '--instance', 'new'], { env });
    engine.close();
    expect(out).toContain(`tcp://127.0.0.1:${port} refuses: not allowed. Only containers`);
  });

  it('finds Docker by its address', async () => {
    const engine = createServer((_request, response) => response.end('{"Version": "20.10.1"}'));
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    const { port } = engine.address() as AddressInfo; // a server on a TCP port always has one
    const { out } = await cli.runInProcess(['doctor', '--instance', 'new'], {
      env: { DOCKER_HOST: `tcp://127.0.0.1:${port}` },
    });
    engine.close();
    expect(out).toMatch(/ok +Docker +tcp:.*Docker 20\.10\.1$/m);
  });

  it('recognizes Podman, which responds like Docker', async () => {
    const version = { Version: '4.3.1', Components: [{ Name: 'Podman Engine' }] };
    const engine = createServer((_request, response) => response.end(JSON.stringify(version)));
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    const { port } = engine.address() as AddressInfo; // as above
    const { out } = await cli.runInProcess(['doctor', '--instance', 'new'], {
      env: { DOCKER_HOST: `tcp://127.0.0.1:${port}` },
    });
    engine.close();
    expect(out).toMatch(/ok +Podman +tcp:.*Podman 4\.3\.1/);
  });

  it('lists the programs that pipelines need, and how to install the missing ones', async () => {
    const empty = join(cli.folder, 'no-programs');
    mkdirSync(empty, { recursive: true });
    const { exitCode, out } = await cli.runInProcess(['doctor', '--instance', 'new'], {
      env: { ...noDocker, PATH: empty },
    });
    expect(exitCode).toBe(0);
    for (const name of ['git', 'bash', 'curl', 'docker'])
      expect(out).toMatch(new RegExp(`missing +${name} +not found.*install ${name}`));
    expect(out).toMatch(/(ok|missing) +Electron/);
    writeFileSync(join(empty, 'git'), '#!/bin/sh\necho no library >&2; exit 3\n', { mode: 0o755 });
    const broken = await cli.runInProcess(['doctor', '--instance', 'new'], { env: { ...noDocker, PATH: empty } });
    expect(broken.out).toMatch(/missing +git +`git --version` fails, and pipelines .*: /);
    expect((await cli.runInProcess(['doctor', '--instance', 'new'], { env: noDocker })).out).toMatch(
      /ok +git +git version/,
    );
  });

  it('are not needed by a start and by lambdas', async () => {
    const empty = join(cli.folder, 'nothing-installed');
    mkdirSync(empty);
    const send = `fetch(process.env.TERRARIUM_GATEWAY_URL + '/website/lead', { method: 'POST', body: '{"payload": {}}' })
      .then((response) => response.text()).then(console.log)`;
    const args = ['exec', '--seed', 'demo', '--', process.execPath, '-e', send];
    expect(await cli.run(args, { env: { PATH: empty } })).toMatchObject({ exitCode: 0, out: 'SUCCESS\n' });
  });

  it('lists the needs of an offline demo, and downloads missing ones', async () => {
    const mods = join(cli.folder, 'mods');
    for (const folder of [mods, join(cli.folder, 'a-package')]) mkdirSync(folder, { recursive: true });
    // A fake engine, which has an image once it was pulled.
    let [hasImage, hasNetwork] = [false, true];
    const engine = createServer(({ url = '' }, response) => {
      const isPull = url.startsWith('/images/create');
      if (isPull && hasNetwork) hasImage = true;
      if (isPull && !hasNetwork) response.writeHead(500).end('{"message": "no such host"}');
      else if (isPull) response.end('{"status": "Status: Downloaded newer image"}\n');
      else if (url.startsWith('/images/')) response.writeHead(hasImage ? 200 : 404).end('{}');
      else response.end(url.startsWith('/version') ? '{"Version": "1"}' : '[]');
    }).listen(join(cli.folder, 'engine.sock'));
    onTestFinished(() => void engine.close());
    await once(engine, 'listening');
    writeFileSync(join(cli.folder, 'a-package', 'package.json'), '{"name": "a-package", "version": "1.0.0"}');
    writeFileSync(join(mods, 'package.json'), '{"dependencies": {"a-package": "file:../a-package"}}');
    const env = {
      PATH: String(process.env.PATH),
      DOCKER_HOST: `unix://${join(cli.folder, 'engine.sock')}`,
      TERRARIUM_LAMBDAS_MODULES: mods,
    };
    const look = async (...more: string[]) => {
      const { exitCode, out, err } = await cli.runInProcess(['doctor', '--offline', '--instance', 'new', ...more], {
        env,
      });
      return { exitCode, err, lines: out.trimEnd().split('\n') };
    };
    const before = await look();
    expect(before.exitCode).toBe(1);
    expect(before.lines).toEqual([
      expect.stringMatching(/^missing +images +busybox:1\.36 is not on this machine: .* \(--fetch downloads it\)$/),
      expect.stringMatching(/^ok +pipelines +gitlab-ci-local 4/),
      expect.stringMatching(/^ok +Electron +(not needed\. The window was not opened |\/)/),
      expect.stringMatching(/^missing +packages +a-package of .*mods is not installed .* \(--fetch downloads it\)$/),
    ]);
    const downloaded = await look('--fetch');
    expect(downloaded.lines.map((line) => line.split(' ', 1)[0])).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect([downloaded.exitCode, downloaded.err.match(/^fetching: /gm)]).toEqual([0, ['fetching: ', 'fetching: ']]);

    [hasImage, hasNetwork] = [false, false];
    const offline = await look('--fetch');
    expect(offline.lines[0]).toMatch(/^missing +images .*\(download failed: .*no such host.*\)$/);
    expect(offline.exitCode).toBe(1);
    expect((await cli.runInProcess(['doctor', '--fetch'])).err).toContain('--fetch requires --offline');
  });

  it('names the process that uses a port and the folder that cannot be written to, with exit code 1', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // as above
    writeFileSync(join(cli.folder, 'a-file'), '');
    const args = ['doctor', '--base-port', String(port), '--gateway-port', '0', '--data', 'a-file/world'];
    const { exitCode, out } = await cli.runInProcess(args, { env: noDocker });
    server.close();
    expect(exitCode).toBe(1);
    expect(out).toMatch(new RegExp(`fails +base port +${port} is in use by .*choose another port with --base-port`));
    expect(out).toMatch(/fails +data folder .*a-file\/world cannot be used .*choose another folder with --data/);
    expect(out).toMatch(/ok +gateway port/);
    expect(out).toMatch(/ok +mock GitLab port/);
  });

  it('says what the temporary folder is good for when it cannot be written to', async () => {
    writeFileSync(join(cli.folder, 'a-file'), '');
    vi.stubEnv(temporaryVariable(), join(cli.folder, 'a-file'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const line = /(fails|missing) +temporary folder +.*a-file cannot be used \(.*set the variable \w+ to a folder/;
    const dataKept = await cli.runInProcess(['doctor', '--instance', 'new'], { env: noDocker });
    expect([dataKept.exitCode, line.exec(dataKept.out)?.[1]]).toEqual([0, 'missing']);
    const inMemory = await cli.runInProcess(['doctor', '--data', ':memory:'], { env: noDocker });
    expect([inMemory.exitCode, line.exec(inMemory.out)?.[1]]).toEqual([1, 'fails']);
  });

  it('rejects invalid settings with exit code 2', async () => {
    expect((await cli.runInProcess(['doctor', '--base-port', 'http'])).exitCode).toBe(2);
  });
});

describe('terrarium start --detach', () => {
  const detach = ['start', '--detach', '--instance', 'apart'];

  // Creates the world and chooses the ports of the instance.
  beforeAll(async () => {
    await cli.run(detach);
    await cli.json('stop', '--instance', 'apart');
  });
  afterEach(() => rmSync(join(folderOf('apart'), 'instance.json'), { force: true }));

  it('returns when the platform is ready; the platform runs until it is stopped, and keeps its ports', async () => {
    const waiting = cli.json('wait', '--instance', 'apart');
    const { baseUrl, gatewayUrl, crmUrl, scmUrl, pid, log } = JSON.parse((await cli.run([...detach, '--json'])).out);
    expect(await waiting).toMatchObject({ baseUrl, gatewayUrl });
    expect([crmUrl, scmUrl]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^http:/)]);
    expect(await cli.json('status', '--instance', 'apart')).toMatchObject({ running: true, pid });
    expect(readFileSync(log, 'utf8')).toContain('Terrarium is ready.');
    const again = await cli.run(detach);
    expect([again.exitCode, again.err]).toEqual([2, expect.stringContaining(`in use by process ${pid}`)]);
    expect(await cli.json('stop', '--instance', 'apart')).toMatchObject({ stopped: true, pid });
    expect(await cli.runInProcess(['stop', '--instance', 'apart'])).toMatchObject({ exitCode: 1, out: '' });
    const second = JSON.parse((await cli.run([...detach, '--json'])).out);
    expect(second).toMatchObject({ baseUrl, gatewayUrl, crmUrl, scmUrl });
    expect(second.pid).not.toBe(pid);
    const stopped = await cli.runInProcess(['stop', '--instance', 'apart']);
    expect(stopped).toMatchObject({ exitCode: 0, out: expect.stringContaining(`process ${second.pid}) has stopped`) });
  });

  it('takes other ports if another program uses the last ones', async () => {
    const { port } = JSON.parse(readFileSync(join(folderOf('apart'), 'ports.json'), 'utf8'), (key, value) =>
      key === '' ? { port: value.basePort } : value,
    );
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    const { baseUrl } = JSON.parse((await cli.run([...detach, '--json'])).out);
    expect(new URL(baseUrl).port).not.toBe(String(port));
    await cli.json('stop', '--instance', 'apart');
    server.close();
  });

  it.each([
    ['a world in memory', ['start', '--detach', '--data', ':memory:'], /--detach requires a data folder/],
    ['an invalid setting', [...detach, '--base-port', 'x'], /--base-port is "x"/],
    ['--json in the foreground', ['start', '--json'], /--json requires --detach/],
    ['an address to stop', ['stop', '--base-url', 'http://127.0.0.1:1'], /instead of an address/],
    ['an invalid timeout', ['wait', '--timeout', 'soon'], /--timeout is "soon"/],
  ])('refuses %s', async (_what, args, sentence) => {
    expect(await cli.runInProcess(args)).toMatchObject({ exitCode: 2, err: expect.stringMatching(sentence) });
  });

  it('wait ends with exit code 1 if no platform responds in time', async () => {
    const { exitCode, err } = await cli.runInProcess(['wait', '--instance', 'never', '--timeout', '0']);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/no platform responded on .*never within 0 s/)]);
  });

  it('stop does not stop a process that is not a platform', async () => {
    const file = join(folderOf('apart'), 'instance.json');
    const urls = ['baseUrl', 'metaUrl', 'securityUrl', 'gatewayUrl', 'crmUrl'].map((name) => [
      name,
      'http://127.0.0.1:1',
    ]);
    const facts = { pid: process.pid, version: '1', startedAt: '', dataDir: folderOf('apart') };
    writeFileSync(file, JSON.stringify({ ...facts, ...Object.fromEntries(urls) }));
    const { exitCode, err } = await cli.runInProcess(['stop', '--instance', 'apart']);
    expect([exitCode, err]).toEqual([1, expect.stringContaining(`process ${process.pid} does not respond`)]);
  });

  it.runIf(process.platform !== 'win32')(
    'stop sends a signal only to a process with the id, start time and world of the platform (D-219)',
    async () => {
      const other = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      await once(other, 'spawn');
      const dataDir = folderOf('apart');
      const { id: worldId } = JSON.parse(readFileSync(join(dataDir, 'world.json'), 'utf8'));
      const url = 'http://127.0.0.1:1';
      const urls = { baseUrl: url, metaUrl: url, securityUrl: url };
      const facts = { pid: other.pid, version: '1', startedAt: '', dataDir, ...urls };
      const began = await beginOf(other.pid ?? 0);
      const stop = (record: object) => {
        writeFileSync(join(dataDir, 'instance.json'), JSON.stringify({ ...facts, ...record }));
        return cli.runInProcess(['stop', '--instance', 'apart']);
      };
      expect((await stop({ began: '1', worldId })).err).toContain('no platform is running');
      expect((await stop({ began: '', worldId })).err).toContain('not certain that it is the platform');
      expect((await stop({ began, worldId: 'another' })).err).toContain('not certain that it is the platform');
      expect(other.exitCode ?? other.signalCode).toBeNull();
      const ended = once(other, 'exit');
      expect(await stop({ began, worldId })).toMatchObject({ exitCode: 0 });
      expect(await ended).toEqual([null, 'SIGTERM']);
    },
  );

  it('a platform stops when root asks it to over HTTP (D-219)', async () => {
    const { pid, baseUrl } = JSON.parse((await cli.run([...detach, '--json'])).out);
    const { key, secret } = JSON.parse(readFileSync(join(folderOf('apart'), 'root-api-key.json'), 'utf8'));
    const Authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
    const stopBy = (headers: Record<string, string>, worldId: string) =>
      fetch(`${baseUrl}/inspect/stop`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify({ worldId }),
      });
    const { worldId } = JSON.parse(readFileSync(join(folderOf('apart'), 'instance.json'), 'utf8'));
    expect((await stopBy({}, worldId)).status).toBe(401);
    expect((await stopBy({ Authorization }, '6b8c1e7c-33c4-4d3a-8c0f-2f2b7b2f9a11')).status).toBe(409);
    expect((await stopBy({ Authorization }, worldId)).status).toBe(204);
    await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false);
    expect((await cli.runInProcess(['stop', '--instance', 'apart'])).err).toContain('no platform is running');
  });
});

describe('terrarium completion', () => {
  it('completes commands, options and fixed values in bash', async () => {
    const script = join(cli.folder, 'completion.bash');
    writeFileSync(script, (await cli.runInProcess(['completion', 'bash'])).out);
    const bash = (...args: string[]) => promisify(execFile)('bash', args);
    await bash('-n', script);
    const complete = async (...args: string[]) => {
      const line = ['terrarium', ...args].map((arg) => `'${arg}'`).join(' ');
      const lookup = `COMP_WORDS=(${line}); COMP_CWORD=${args.length}; _terrarium; echo "\${COMPREPLY[*]}"`;
      return (await bash('-c', `source '${script}'; complete -p terrarium >&2; ${lookup}`)).stdout.trim();
    };
    expect((await complete('')).split(' ')).toEqual(expect.arrayContaining(['start', 'exec', 'leads', 'completion']));
    expect(await complete('st')).toBe('start status stop');
    expect(await complete('leads', 'w')).toBe('wait');
    expect(await complete('leads', 'wait', '--ti')).toBe('--timeout');
    expect(await complete('start', '--headless', '--base')).toBe('--base-port');
    expect(await complete('completion', 'z')).toBe('zsh');
    expect(await complete('exec', '--', 'sta')).toBe('');
  });

  it.skipIf(isMissing('fish'))('completes them in fish', async () => {
    const script = join(cli.folder, 'completion.fish');
    writeFileSync(script, (await cli.runInProcess(['completion', 'fish'])).out);
    const complete = async (line: string) => {
      const fishArgs = ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line];
      const { stdout, stderr } = await promisify(execFile)('fish', fishArgs);
      expect(stderr).toBe('');
      return stdout.split('\n').map((completion) => completion.split('\t')[0]);
    };
    expect(await complete('terrarium ')).toEqual(expect.arrayContaining(['start', 'exec', 'leads', 'completion']));
    expect(await complete('terrarium sta')).toEqual(expect.arrayContaining(['start', 'status']));
    expect(await complete('terrarium leads wait --ti')).toContain('--timeout');
    expect(await complete('terrarium completion z')).toContain('zsh');
  });

  it.skipIf(isMissing('zsh'))('completes them in zsh', async () => {
    const script = join(cli.folder, 'completion.zsh');
    writeFileSync(script, (await cli.runInProcess(['completion', 'zsh'])).out);
    // Replaces _describe, which receives the completions.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: zsh syntax for indirect expansion
    const load = 'autoload -Uz compinit && compinit -D && source $1 && _describe() { print -l -- ${(P)2} }';
    const complete = async (...args: string[]) => {
      const lookup = 'shift; words=(terrarium "$@"); CURRENT=$#words; print -- $_comps[terrarium]; _terrarium';
      const zsh = ['-f', '-c', `${load}; ${lookup}`, 'zsh', script, ...args];
      const { stdout, stderr } = await promisify(execFile)('zsh', zsh, {
        env: { HOME: cli.folder, PATH: process.env.PATH },
      });
      expect(stderr).toBe('');
      return stdout.split('\n').map((completion) => completion.split(':')[0]);
    };
    expect(await complete('')).toEqual(expect.arrayContaining(['_terrarium', 'start', 'exec', 'leads', 'completion']));
    expect(await complete('leads', '')).toEqual(expect.arrayContaining(['list', 'wait', 'clear']));
    expect(await complete('leads', 'wait', '')).toContain('--timeout');
    expect(await complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it('rejects other shells', async () => {
    expect(await cli.runInProcess(['completion', 'cmd'])).toMatchObject({ exitCode: 2, out: '' });
  });
});

it('the help of each command lists options and exit codes', async () => {
  for (const command of ['status', 'token', 'invoke', 'logs', 'apply', 'export', 'reset', 'doctor', 'exec']) {
    const { exitCode, out } = await cli.runInProcess([command, '--help']);
    expect([exitCode, out]).toEqual([0, expect.stringContaining('Exit codes:')]);
  }
});
