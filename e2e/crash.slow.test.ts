import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { basic, send } from '../server/testing/checked-client.ts';

/**
 * Kills the shipped server (-9) repeatedly while several clients write, and checks after each start that every acknowledged write exists
 * and none is partial. Number of kills: TERRARIUM_CRASH_KILLS.
 */
const KILL_COUNT = Number(process.env.TERRARIUM_CRASH_KILLS || 12);
/** Determines when the server is killed. TEST_SEED=2 tries other times. */
const SEED = Number(process.env.TEST_SEED || 1);
const random = randomNumbers(SEED);
const WRITERS = 6;
/** A kill comes up to this long after a client could write, or in every eighth run after the process began. */
const LONGEST_RUN_MS = 600;
const LONGEST_START_MS = 400;
/** Long enough to make a snapshot due every hundred writes, so that kills also meet those. */
const PADDING = 'x'.repeat(40_000);
const KEY = { TERRARIUM_ROOT_API_KEY: 'crash', TERRARIUM_ROOT_API_SECRET: 'test' };
const auth = basic('crash', 'test');

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let folder: string;
let server: ChildProcess | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium crash '));
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
});
afterAll(async () => {
  server?.kill('SIGKILL');
  await rm(folder, { recursive: true, maxRetries: 3 });
});

/** Numbers from 0 to 1 that are the same for each seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One writer's organization: absent, or with what its last change has set in two places, and its workspaces. */
type State = { description: string; env: string; workspaces: string[] } | undefined;

/** A client that creates, changes and deletes one organization, and knows the acknowledged state and the pending change. */
class Writer {
  readonly name: string;
  acknowledged: State;
  /** The state after the pending change. */
  next: State;
  count = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Writes until the server is gone. */
  async run(metaUrl: string): Promise<void> {
    for (;;) {
      const request = this.#plan();
      const answer = await send(request.method, `${metaUrl}${request.path}`, { auth, body: request.body }).catch(
        () => undefined,
      );
      if (!answer) return;
      if (answer.status >= 300) throw new Error(`${request.method} ${request.path}: ${JSON.stringify(answer.body)}`);
      this.acknowledged = this.next;
      this.count += 1;
    }
  }

  #plan(): { method: string; path: string; body?: unknown } {
    const state = this.acknowledged;
    const organizationPath = `/${this.name}`;
    if (!state) {
      this.next = { description: '', env: '', workspaces: [] };
      return { method: 'POST', path: '/root', body: { name: this.name } };
    }
    if (state.workspaces.length < 2) {
      const name = `ws-${state.workspaces.length}`;
      this.next = { ...state, workspaces: [...state.workspaces, name] };
      return { method: 'POST', path: `${organizationPath}/workspaces`, body: { name } };
    }
    if (this.count % 20 === 19) {
      this.next = undefined;
      return { method: 'DELETE', path: `${organizationPath}?force=true` };
    }
    const value = String(this.count);
    this.next = { ...state, description: value, env: value };
    const body = [
      { op: 'add', path: '/description', value: `${value} ${PADDING}` },
      { op: 'add', path: '/properties/env', value: { VALUE: value } },
    ];
    return { method: 'PATCH', path: organizationPath, body };
  }
}

const worldSchema = z.object({
  seq: z.int(),
  resources: z.record(
    z.string(),
    z.looseObject({
      id: z.string(),
      type: z.string(),
      name: z.string(),
      parent: z.string().nullable(),
      description: z.string().optional(),
      properties: z.looseObject({ env: z.record(z.string(), z.string()).optional() }),
    }),
  ),
});

function stateIn({ resources }: z.infer<typeof worldSchema>, name: string): State {
  const all = Object.values(resources);
  const organization = all.find((resource) => resource.name === name);
  if (!organization) return undefined;
  const below = all.filter(({ parent }) => parent === organization.id).map((child) => child.name);
  const [description = ''] = (organization.description ?? '').split(' ');
  return { description, env: organization.properties.env?.VALUE ?? '', workspaces: below.sort() };
}

/** Starts the server on the same data. `ready` resolves to its address, or nothing if it ended before. */
function start() {
  const readyFile = join(folder, 'ready.json');
  const args = ['start', '--headless', '--data', join(folder, 'data'), '--seed', 'empty', '--ready-file', readyFile];
  const child = spawn(
    process.execPath,
    [join(root, 'dist', 'server', 'cli.js'), ...args, '--base-port', '0', '--gateway-port', '0'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, ...KEY },
    },
  );
  server = child;
  const output = { out: '', err: '' };
  child.stdout.on('data', (text) => {
    output.out += text;
  });
  child.stderr.on('data', (text) => {
    output.err += text;
  });
  const ended = once(child, 'close');
  const ready = async (): Promise<{ baseUrl: string; metaUrl: string }> => {
    while (!output.out.includes('Ctrl+C')) {
      await Promise.race([once(child.stdout, 'data'), ended]);
      if (child.exitCode !== null) throw new Error(`the server did not start: ${output.err}`);
    }
    if (!existsSync(readyFile)) throw new Error('the server says it is ready, without the file that says so');
    return JSON.parse(readFileSync(readyFile, 'utf8'));
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { ready, kill, output };
}

/** Compares the world with the expectations of each writer, and the history with the world. */
async function check(baseUrl: string, writers: readonly Writer[]): Promise<number> {
  const world = worldSchema.parse((await send('GET', `${baseUrl}/inspect/world`, { auth })).body);
  for (const record of Object.values(world.resources)) {
    if (record.parent !== null) expect(world.resources[record.parent], `the parent of ${record.name}`).toBeDefined();
  }
  for (const writer of writers) {
    const found = stateIn(world, writer.name);
    const isOne = [writer.acknowledged, writer.next].some((state) => isDeepStrictEqual(state, found));
    expect(isOne ? 'as acknowledged, or one further' : { found, ...writer }).toBe('as acknowledged, or one further');
    writer.acknowledged = found;
  }
  const { commits } = (await send('GET', `${baseUrl}/inspect/history?limit=20`, { auth })).body;
  const seqs = commits.map(({ seq }: { seq: number }) => seq);
  expect(seqs).toEqual(Array.from(seqs, (_, at) => world.seq - at));
  return world.seq;
}

it.skipIf(process.platform === 'win32')(
  `loses nothing acknowledged and leaves nothing half done in ${KILL_COUNT} kills (TEST_SEED=${SEED})`,
  async () => {
    const writers = Array.from({ length: WRITERS }, (_, at) => new Writer(`writer-${at}`));
    const count = () => writers.reduce((sum, writer) => sum + writer.count, 0);
    let seq = 0;
    for (let kill = 1; kill <= KILL_COUNT; kill++) {
      if (kill % 8 === 0) {
        const { kill: killNow } = start();
        await delay(random() * LONGEST_START_MS);
        await killNow();
      }
      const { ready, kill: killNow, output } = start();
      const { baseUrl, metaUrl } = await ready();
      const now = await check(baseUrl, writers);
      expect(now).toBeGreaterThanOrEqual(seq);
      seq = now;
      const before = count();
      const written = Promise.all(writers.map((writer) => writer.run(metaUrl)));
      // Independent of the machine's load: every second server is killed after it has acknowledged a change.
      const acknowledged = () =>
        vi.waitFor(() => expect(count()).toBeGreaterThan(before), { timeout: 60_000, interval: 5 });
      if (kill % 2 === 0) await Promise.race([written, acknowledged()]);
      await Promise.race([written, delay(random() * LONGEST_RUN_MS)]);
      await killNow();
      await written;
      expect(output.err.replace(/^terrarium: .* ends in the middle of a line .*\n/gm, '')).toBe('');
    }
    const { ready, kill } = start();
    await check((await ready()).baseUrl, writers);
    await kill();
    expect(count()).toBeGreaterThanOrEqual(KILL_COUNT / 2);
    if (process.env.TERRARIUM_CRASH_KILLS)
      console.log(`${KILL_COUNT} kills, ${count()} acknowledged writes, all there`);
  },
  30_000 + KILL_COUNT * 10_000,
);
