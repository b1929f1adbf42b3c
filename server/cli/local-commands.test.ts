import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand, Workplace } from './command-for-tests.ts';

let place: Workplace;
beforeAll(async () => {
  await buildCommand();
  place = new Workplace();
}, BUILD_TIMEOUT_MS);
afterAll(() => place?.close());

const folderOf = (instance: string) => join(place.folder, '.terrarium', 'instances', instance);
const start = async (...args: string[]) => {
  const run = place.start(['start', ...args]);
  await run.said('Ctrl+C');
  return run;
};

describe('named instances', () => {
  it('run side by side, each with its own world that is not taken from under it', async () => {
    const runs = await Promise.all([start('--instance', 'one'), start('--instance', 'two', '--seed', 'empty')]);
    const [one, two] = await Promise.all(['one', 'two'].map((name) => place.json('status', '--instance', name)));
    expect([one.pid, two.pid]).toEqual(runs.map(({ child }) => child.pid));
    const names = ['one', 'two'].map((name) => place.json('export', '--instance', name));
    expect((await Promise.all(names)).map(({ orgs = {} }) => Object.keys(orgs))).toEqual([['demo'], []]);

    const refused = await place.run(['reset', '--instance', 'two']);
    expect([refused.exitCode, refused.err]).toEqual([
      2,
      expect.stringContaining(`in use by process ${two.pid}: stop that one`),
    ]);
    for (const { child } of runs) child.kill('SIGTERM');
    for (const { ended } of runs) expect(await ended).toMatchObject({ exitCode: 0, err: '' });
  });

  it('are reset one by one, and keep their keys', async () => {
    const first = await Promise.all([start('--instance', 'one'), start('--instance', 'two', '--seed', 'empty')]);
    for (const { child } of first) child.kill('SIGTERM');
    for (const { ended } of first) await ended;
    const key = readFileSync(join(folderOf('two'), 'root-api-key.json'), 'utf8');
    const { setAside } = await place.json('reset', '--instance', 'two');
    expect(existsSync(join(setAside, 'world.json'))).toBe(true);
    expect(existsSync(join(folderOf('one'), 'world.json'))).toBe(true);
    expect(await place.json('reset', '--instance', 'two')).toMatchObject({ setAside: null });

    const again = await start('--instance', 'two');
    expect(Object.keys((await place.json('export', '--instance', 'two')).orgs)).toEqual(['demo']);
    expect(readFileSync(join(folderOf('two'), 'root-api-key.json'), 'utf8')).toBe(key);
    again.child.kill('SIGTERM');
    await again.ended;
  });

  it('that have crashed are not taken for running', async () => {
    const run = await start('--instance', 'two');
    run.child.kill('SIGKILL');
    await run.ended;
    // Nobody could take the file away, and yet nobody is misled.
    expect(existsSync(join(folderOf('two'), 'instance.json'))).toBe(true);
    expect((await place.runHere(['status', '--instance', 'two'])).exitCode).toBe(1);
    expect((await place.runHere(['token', '--instance', 'two'])).err).toContain('no platform runs on');
  });

  it('are left alone by a reset of the default one', async () => {
    mkdirSync(folderOf('bystander'), { recursive: true });
    writeFileSync(join(place.folder, '.terrarium', 'world.json'), '{}');
    const { out } = await place.runHere(['reset']);
    expect(out).toMatch(/^set aside in .*set-aside/);
    expect(readdirSync(join(place.folder, '.terrarium')).sort()).toEqual(['instances', 'set-aside']);
    expect(existsSync(folderOf('bystander'))).toBe(true);
  });
});

describe('terrarium doctor', () => {
  const noDocker = { DOCKER_HOST: 'tcp://127.0.0.1:1' };

  it('is content without Docker, and says what will not run', async () => {
    const { exitCode, out } = await place.runHere(['doctor', '--instance', 'new', '--json'], { env: noDocker });
    const { ok, checks } = JSON.parse(out);
    expect([exitCode, ok]).toEqual([0, true]);
    const docker = checks.find(({ name }: { name: string }) => name === 'Docker');
    expect(docker).toMatchObject({
      ok: false,
      isNeeded: false,
      message: expect.stringContaining('containers will not run'),
    });
  });

  it('finds Docker by its address', async () => {
    const engine = createServer((_request, response) => response.setHeader('Api-Version', '1.99').end('OK'));
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    const { port } = engine.address() as AddressInfo; // a server on a TCP port always has one
    const { out } = await place.runHere(['doctor', '--instance', 'new'], {
      env: { DOCKER_HOST: `tcp://127.0.0.1:${port}` },
    });
    engine.close();
    expect(out).toMatch(/ok +Docker +tcp:.*API 1\.99/);
  });

  it('knows Podman, which answers as Docker does', async () => {
    const engine = createServer((_request, response) => response.setHeader('Server', 'Libpod/4.3.1 (linux)').end('OK'));
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    const { port } = engine.address() as AddressInfo; // as above
    const { out } = await place.runHere(['doctor', '--instance', 'new'], {
      env: { DOCKER_HOST: `tcp://127.0.0.1:${port}` },
    });
    engine.close();
    expect(out).toMatch(/ok +Podman +tcp:.*Podman 4\.3\.1/);
  });

  it('says how to install what pipelines need, and what is there of it', async () => {
    const empty = join(place.folder, 'no-programs');
    mkdirSync(empty, { recursive: true });
    const { exitCode, out } = await place.runHere(['doctor', '--instance', 'new'], {
      env: { ...noDocker, PATH: empty },
    });
    expect(exitCode).toBe(0);
    for (const name of ['git', 'bash', 'rsync', 'curl', 'docker'])
      expect(out).toMatch(new RegExp(`missing +${name} +not found.*install ${name}`));
    expect(out).toMatch(/(ok|missing) +Electron/);
    expect((await place.runHere(['doctor', '--instance', 'new'], { env: noDocker })).out).toMatch(
      /ok +git +git version/,
    );
  });

  it('lists what a demo without a network needs, and fetches what is missing of it', async () => {
    const bin = join(place.folder, 'bin');
    const mods = join(place.folder, 'mods');
    for (const folder of [bin, mods, join(place.folder, 'a-package')]) mkdirSync(folder, { recursive: true });
    // An engine's command that has an image once it was pulled.
    const engine = `#!/bin/sh\ncase "$1 $2" in "image inspect") test -e "$0.$5";; pull*) touch "$0.$3";; esac\n`;
    writeFileSync(join(bin, 'docker'), engine, { mode: 0o755 });
    writeFileSync(join(place.folder, 'a-package', 'package.json'), '{"name": "a-package", "version": "1.0.0"}');
    writeFileSync(join(mods, 'package.json'), '{"dependencies": {"a-package": "file:../a-package"}}');
    const env = { PATH: `${bin}:${process.env.PATH}`, TERRARIUM_LAMBDAS_MODULES: mods };
    const look = async (...more: string[]) => {
      const { exitCode, out, err } = await place.runHere(['doctor', '--offline', '--instance', 'new', ...more], {
        env,
      });
      return { exitCode, err, lines: out.trimEnd().split('\n') };
    };
    const before = await look();
    expect(before.exitCode).toBe(1);
    expect(before.lines).toEqual([
      expect.stringMatching(/^missing +images +busybox:1\.36 is not on this machine: .* \(--fetch fetches it\)$/),
      expect.stringMatching(/^ok +pipelines +gitlab-ci-local 4/),
      expect.stringMatching(/^ok +Electron +(not needed\. No window: |\/)/),
      expect.stringMatching(/^missing +packages +a-package of .*mods is not installed .* \(--fetch fetches it\)$/),
    ]);
    const fetched = await look('--fetch');
    expect(fetched.lines.map((line) => line.split(' ', 1)[0])).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect([fetched.exitCode, fetched.err.match(/^fetching: /gm)]).toEqual([0, ['fetching: ', 'fetching: ']]);

    writeFileSync(join(bin, 'docker'), engine.replace('touch', 'echo no such host >&2; false'));
    rmSync(join(bin, 'docker.busybox:1.36'));
    const without = await look('--fetch');
    expect(without.lines[0]).toMatch(/^missing +images .*\(it could not be fetched: no such host\)$/);
    expect(without.exitCode).toBe(1);
    expect((await place.runHere(['doctor', '--fetch'])).err).toContain('--fetch goes with --offline');
  });

  it('says who has a port and what cannot be written, and ends with exit code 1', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo; // as above
    writeFileSync(join(place.folder, 'a-file'), '');
    const args = ['doctor', '--base-port', String(port), '--gateway-port', '0', '--data', 'a-file/world'];
    const { exitCode, out } = await place.runHere(args, { env: noDocker });
    holder.close();
    expect(exitCode).toBe(1);
    expect(out).toMatch(new RegExp(`fails +base port +${port} is in use by .*choose another one with --base-port`));
    expect(out).toMatch(/fails +data folder .*a-file\/world cannot be used .*choose another one with --data/);
    expect(out).toMatch(/ok +gateway port/);
  });

  it('takes wrong settings for wrong, with exit code 2', async () => {
    expect((await place.runHere(['doctor', '--base-port', 'http'])).exitCode).toBe(2);
  });
});

describe('terrarium start --detach', () => {
  const detach = ['start', '--detach', '--instance', 'apart'];

  it('comes back when the platform answers, which goes on until it is told to stop, and keeps its ports', async () => {
    const waiting = place.json('wait', '--instance', 'apart');
    const { baseUrl, gatewayUrl, pid, log } = JSON.parse((await place.run([...detach, '--json'])).out);
    expect(await waiting).toMatchObject({ baseUrl, gatewayUrl });
    expect(await place.json('status', '--instance', 'apart')).toMatchObject({ running: true, pid });
    expect(readFileSync(log, 'utf8')).toContain('Terrarium is ready.');
    const again = await place.run(detach);
    expect([again.exitCode, again.err]).toEqual([2, expect.stringContaining(`in use by process ${pid}`)]);
    expect(await place.json('stop', '--instance', 'apart')).toMatchObject({ stopped: true, pid });
    expect(await place.runHere(['stop', '--instance', 'apart'])).toMatchObject({ exitCode: 1, out: '' });
    const second = JSON.parse((await place.run([...detach, '--json'])).out);
    expect(second).toMatchObject({ baseUrl, gatewayUrl });
    expect(second.pid).not.toBe(pid);
    const stopped = await place.runHere(['stop', '--instance', 'apart']);
    expect(stopped).toMatchObject({ exitCode: 0, out: expect.stringContaining(`process ${second.pid}) has stopped`) });
  });

  it('takes other ports when somebody else has those of last time', async () => {
    const { port } = JSON.parse(readFileSync(join(folderOf('apart'), 'ports.json'), 'utf8'), (key, value) =>
      key === '' ? { port: value.basePort } : value,
    );
    const holder = createServer().listen(port, '127.0.0.1');
    await once(holder, 'listening');
    const { baseUrl } = JSON.parse((await place.run([...detach, '--json'])).out);
    expect(new URL(baseUrl).port).not.toBe(String(port));
    await place.json('stop', '--instance', 'apart');
    holder.close();
  });

  it.each([
    ['a world in memory', ['start', '--detach', '--data', ':memory:'], /--detach needs a data folder/],
    ['a setting that is wrong', [...detach, '--base-port', 'x'], /--base-port is "x"/],
    ['JSON of one in the foreground', ['start', '--json'], /--json goes with --detach/],
    ['an address to stop', ['stop', '--base-url', 'http://127.0.0.1:1'], /not by its address/],
    ['a time that is none', ['wait', '--timeout', 'soon'], /--timeout is "soon"/],
  ])('refuses %s', async (_what, args, sentence) => {
    expect(await place.runHere(args)).toMatchObject({ exitCode: 2, err: expect.stringMatching(sentence) });
  });

  it('wait says no when none answered in time', async () => {
    const { exitCode, err } = await place.runHere(['wait', '--instance', 'never', '--timeout', '0']);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/no platform answered on .*never within 0 s/)]);
  });

  it('stop leaves a process alone that is not the platform', async () => {
    const file = join(folderOf('apart'), 'instance.json');
    const urls = ['baseUrl', 'metaUrl', 'securityUrl', 'gatewayUrl', 'crmUrl'].map((name) => [
      name,
      'http://127.0.0.1:1',
    ]);
    const facts = { pid: process.pid, version: '1', startedAt: '', dataDir: folderOf('apart') };
    writeFileSync(file, JSON.stringify({ ...facts, ...Object.fromEntries(urls) }));
    const { exitCode, err } = await place.runHere(['stop', '--instance', 'apart']);
    expect([exitCode, err]).toEqual([1, expect.stringContaining(`process ${process.pid} does not answer`)]);
  });
});

describe('terrarium completion', () => {
  it('completes commands, options and fixed values in bash', async () => {
    const script = join(place.folder, 'completion.bash');
    writeFileSync(script, (await place.runHere(['completion', 'bash'])).out);
    const bash = (...args: string[]) => promisify(execFile)('bash', args);
    await bash('-n', script);
    const complete = async (...words: string[]) => {
      const line = ['terrarium', ...words].map((word) => `'${word}'`).join(' ');
      const lookup = `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _terrarium; echo "\${COMPREPLY[*]}"`;
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

  it('completes them in fish', async () => {
    const script = join(place.folder, 'completion.fish');
    writeFileSync(script, (await place.runHere(['completion', 'fish'])).out);
    const complete = async (line: string) => {
      const words = ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line];
      const { stdout, stderr } = await promisify(execFile)('fish', words);
      expect(stderr).toBe('');
      return stdout.split('\n').map((one) => one.split('\t')[0]);
    };
    expect(await complete('terrarium ')).toEqual(expect.arrayContaining(['start', 'exec', 'leads', 'completion']));
    expect(await complete('terrarium sta')).toEqual(expect.arrayContaining(['start', 'status']));
    expect(await complete('terrarium leads wait --ti')).toContain('--timeout');
    expect(await complete('terrarium completion z')).toContain('zsh');
  });

  it('completes them in zsh', async () => {
    const script = join(place.folder, 'completion.zsh');
    writeFileSync(script, (await place.runHere(['completion', 'zsh'])).out);
    // What zsh would offer is what _describe is handed.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: zsh's own way to name a parameter's parameter
    const load = 'autoload -Uz compinit && compinit -D && source $1 && _describe() { print -l -- ${(P)2} }';
    const complete = async (...words: string[]) => {
      const lookup = 'shift; words=(terrarium "$@"); CURRENT=$#words; print -- $_comps[terrarium]; _terrarium';
      const zsh = ['-f', '-c', `${load}; ${lookup}`, 'zsh', script, ...words];
      const { stdout, stderr } = await promisify(execFile)('zsh', zsh, {
        env: { HOME: place.folder, PATH: process.env.PATH },
      });
      expect(stderr).toBe('');
      return stdout.split('\n').map((one) => one.split(':')[0]);
    };
    expect(await complete('')).toEqual(expect.arrayContaining(['_terrarium', 'start', 'exec', 'leads', 'completion']));
    expect(await complete('leads', '')).toEqual(expect.arrayContaining(['list', 'wait', 'clear']));
    expect(await complete('leads', 'wait', '')).toContain('--timeout');
    expect(await complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });

  it('knows no other shell', async () => {
    expect(await place.runHere(['completion', 'cmd'])).toMatchObject({ exitCode: 2, out: '' });
  });
});

it('each command tells its options and exit codes', async () => {
  for (const command of ['status', 'token', 'invoke', 'logs', 'apply', 'export', 'reset', 'doctor', 'exec']) {
    const { exitCode, out } = await place.runHere([command, '--help']);
    expect([exitCode, out]).toEqual([0, expect.stringContaining('Exit codes:')]);
  }
});
