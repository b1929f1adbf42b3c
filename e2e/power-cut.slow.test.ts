import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../server/storage/world/world-store.ts';
import { basic, send } from '../server/testing/checked-client.ts';
import { isMissing } from '../server/testing/is-missing.ts';
import { testOptions } from '../server/testing/small-world.ts';

/*
 * The states that a power failure can leave, from a trace of the system calls of the shipped server: after each call, all combinations of
 * data that the disk may have written. Each state must contain every change whose response had been sent.
 */

const CHANGES = 12;
const KEY = { TERRARIUM_ROOT_API_KEY: 'power', TERRARIUM_ROOT_API_SECRET: 'test' };
const auth = basic('power', 'test');
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = await mkdtemp(join(tmpdir(), 'terrarium-power-'));
const data = join(folder, 'data');
let strace: ChildProcess | undefined;
afterAll(async () => {
  strace?.kill('SIGKILL');
  await rm(folder, { recursive: true, maxRetries: 3 });
});

/** Runs the server on the folder, makes changes one after the other, and stops it. Returns the traced calls. */
async function tracedRun(from: number): Promise<string[]> {
  const [readyFile, trace] = [join(folder, `ready-${from}`), join(folder, `trace-${from}`)];
  const calls = 'openat,write,writev,pwrite64,fsync,fdatasync,ftruncate,rename,unlink,mkdir,close';
  const ports = ['base', 'gateway', 'crm', 'scm'].flatMap((name) => [`--${name}-port`, '0']);
  const server = [join(root, 'dist', 'server', 'cli.js'), 'start', '--headless', '--containers-engine', 'none'];
  strace = spawn(
    'strace',
    [
      '-f',
      '-y',
      '-xx',
      '-s',
      '4000000',
      '-e',
      `trace=${calls}`,
      '-o',
      trace,
      process.execPath,
      ...server,
      ...ports,
    ].concat(['--seed', 'empty', '--records-keep', 'memory', '--data', data, '--ready-file', readyFile]),
    { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...KEY } },
  );
  await vi.waitUntil(() => readFile(readyFile, 'utf8').catch(() => ''), { timeout: 60_000 });
  const { metaUrl, pid } = JSON.parse(await readFile(readyFile, 'utf8'));
  for (let n = from; n < from + CHANGES; n += 1)
    expect((await send('POST', `${metaUrl}/root`, { auth, body: { name: `power-${n}` } })).status).toBe(201);
  process.kill(pid, 'SIGTERM');
  await once(strace, 'exit');
  return completeCalls(await readFile(trace, 'latin1'));
}

/** Lines `PID CALL`; the parts of interrupted calls are joined at their end. */
function completeCalls(trace: string): string[] {
  const unfinishedCalls = new Map<string, string>();
  return trace.split('\n').flatMap((line) => {
    const [, pid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (call.endsWith('<unfinished ...>')) {
      unfinishedCalls.set(pid, call.slice(0, -'<unfinished ...>'.length));
      return [];
    }
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)?.[1];
    return rest === undefined ? [call] : [`${unfinishedCalls.get(pid) ?? ''}${rest}`];
  });
}

const textOf = (escaped: string) => Buffer.from(escaped.replaceAll('\\x', ''), 'hex');
/** All strings of a call. */
const stringsIn = (call: string) =>
  [...call.matchAll(/(?<!<)"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = '']) => textOf(text));
/** strace also escapes the paths of descriptors. */
const pathIn = (call: string) => {
  const [, path = ''] = /^\w+\(\d+<([^>]*)>/.exec(call) ?? [];
  return path.includes('\\x') ? textOf(path).toString() : path;
};

interface File {
  /** The content that programs read, and the content that is certainly on disk. */
  now: Buffer;
  synced: Buffer;
}

/** A disk that writes data only when it is synced. */
class Disk {
  /** The names that programs see, and the names that are certainly on disk. */
  readonly names = new Map<string, File>();
  readonly synced = new Map<string, File>();
  readonly #through = new Set<string>();

  /** Applies a call that has succeeded. */
  apply(call: string): void {
    const name = call.slice(0, call.indexOf('('));
    const strings = stringsIn(call);
    const [first = '', second = ''] = strings.map(String);
    if (name === 'openat') {
      if (!first.startsWith(`${data}/`)) return;
      const isNew = call.includes('O_CREAT') && !this.names.has(first);
      if (isNew) this.names.set(first, { now: Buffer.alloc(0), synced: Buffer.alloc(0) });
      else if (call.includes('O_TRUNC')) this.#write(first, Buffer.alloc(0));
      if (/O_DSYNC|O_SYNC/.test(call)) this.#through.add(first);
      else if (/O_WRONLY|O_RDWR/.test(call)) this.#through.delete(first);
    } else if (name === 'rename') {
      const file = this.names.get(first);
      if (!file) return;
      this.names.delete(first);
      this.names.set(second, file);
    } else if (name === 'unlink') this.names.delete(first);
    else this.#onFile(name, call, pathIn(call), strings);
  }

  #onFile(name: string, call: string, path: string, strings: Buffer[]): void {
    if (path !== data && !path.startsWith(`${data}/`)) return;
    const file = this.names.get(path);
    if (!file) {
      if (name === 'fsync' || name === 'fdatasync') this.#syncFolder(path);
      return;
    }
    if (name === 'write' || name === 'writev') this.#write(path, Buffer.concat([file.now, ...strings]));
    else if (name === 'pwrite64') {
      const at = Number(/, (\d+)\) += \d+$/.exec(call)?.[1]);
      const [bytes = Buffer.alloc(0)] = strings;
      const end = at + bytes.length;
      const written = Buffer.concat([file.now.subarray(0, at), Buffer.alloc(Math.max(0, at - file.now.length)), bytes]);
      this.#write(path, Buffer.concat([written, file.now.subarray(end)]));
    } else if (name === 'ftruncate') this.#write(path, file.now.subarray(0, Number(/, (\d+)\)/.exec(call)?.[1])));
    else if (name === 'fsync' || name === 'fdatasync') file.synced = file.now;
  }

  #write(path: string, now: Buffer): void {
    const file = this.names.get(path);
    if (!file) return;
    file.now = now;
    if (this.#through.has(path)) file.synced = now;
  }

  #syncFolder(folder: string): void {
    const isIn = (path: string) => dirname(path) === folder;
    for (const path of [...this.synced.keys()]) if (isIn(path)) this.synced.delete(path);
    for (const [path, file] of this.names) if (isIn(path)) this.synced.set(path, file);
  }

  /** States that a power failure can leave now: names and contents that were not synced exist or not. */
  states(): Map<string, Buffer>[] {
    return [this.names, this.synced].flatMap((names) =>
      (['now', 'synced'] as const).map((version) => new Map([...names].map(([path, file]) => [path, file[version]]))),
    );
  }
}

/** The organizations of the folder that a power failure leaves. */
async function organizationsIn(state: Map<string, Buffer>, at: number): Promise<Set<string>> {
  const dir = join(folder, `state-${at}`);
  for (const [path, content] of state) {
    const file = join(dir, path.slice(data.length));
    if (!/world\.json|journal\.jsonl|history\//.test(file)) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const store = await openStore(testOptions({ medium: { kind: 'folder', dir } }));
  const names = store.view.all('orgs').map(({ name }) => name);
  await store.close();
  await rm(dir, { recursive: true });
  return new Set(names);
}

describe.runIf(process.platform === 'linux' && !isMissing('strace'))('after a power failure at any time', () => {
  it('all acknowledged changes exist, whatever the disk has got of the rest', async () => {
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
    // The second run has a snapshot and a history.
    const calls = [...(await tracedRun(0)), ...(await tracedRun(CHANGES))];
    const disk = new Disk();
    const acknowledged = new Set<string>();
    const checkedStates = new Set<string>();
    let states = 0;
    for (const call of calls) {
      if (/ = -1 |= \?/.test(call.slice(-60))) continue;
      if (/^writev?\(\d+<(?:socket|TCP)/.test(call) || /^writev?\(\d+<\\x73\\x6f\\x63\\x6b/.test(call)) {
        const text = Buffer.concat(stringsIn(call)).toString();
        const [, name] = /^HTTP\/1\.1 201 [\s\S]*"name":"(power-\d+)"/.exec(text) ?? [];
        if (name !== undefined) acknowledged.add(name);
      } else disk.apply(call);
      for (const state of disk.states()) {
        const key = `${acknowledged.size} ${[...state].map(([path, content]) => `${path} ${content.length}`).sort()}`;
        if (checkedStates.has(key) || acknowledged.size === 0) continue;
        checkedStates.add(key);
        states += 1;
        const found = await organizationsIn(state, states);
        const lost = [...acknowledged].filter((name) => !found.has(name));
        expect(lost, `after ${call.slice(0, 200)}`).toEqual([]);
      }
    }
    console.info(`${states} states after ${calls.length} system calls`);
    expect(acknowledged.size).toBe(2 * CHANGES);
    expect(states).toBeGreaterThan(4 * CHANGES);
  });
});
