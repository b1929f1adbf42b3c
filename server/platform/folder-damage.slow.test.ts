import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basic, bearer, send } from '../testing/checked-client.ts';
import { QUICK_START } from '../testing/platform.ts';
import { type Emulator, startEmulator } from './emulator.ts';

/** Each kind of file is in it (scripts/make-data-folder.mjs). Files of records: server/storage/records/record-damage.slow.test.ts. */
const SAMPLE_FOLDER = fileURLToPath(new URL('../../fixtures/data-folders/2026-11-contract', import.meta.url));
const CENTURY_S = 100 * 365 * 24 * 60 * 60;
const PAGE_BYTES = 4096;

const testFolder = await mkdtemp(join(tmpdir(), 'terrarium-damage-'));
const sample = join(testFolder, 'sample');
let sampleIds: { token: string; executionId: string; pipelineRunId: string };
let names: string[];
let intactData: Record<string, unknown>;
afterAll(() => rm(testFolder, { recursive: true }));

/** Opens a folder and closes it. */
async function open(data: string, use: (emulator: Emulator) => Promise<void>): Promise<void> {
  const emulator = await startEmulator(
    {
      data,
      containers: { engine: 'none' },
      limits: { tokenLifetimeS: CENTURY_S, resultLifetimeS: CENTURY_S },
      records: { keep: 'memory' },
    },
    { onWarning: () => {}, ...QUICK_START },
  );
  await use(emulator).finally(() => emulator.stop());
}

const rootOf = ({ rootCredentials: { apiKey, apiSecret = '' } }: Emulator) => basic(apiKey, apiSecret);

/** The view of a client on each kept file. */
async function seenIn(emulator: Emulator): Promise<Record<string, unknown>> {
  const { baseUrl, metaUrl, gatewayUrl } = emulator;
  const get = async (url: string, auth = rootOf(emulator)) => (await send('GET', url, { auth })).body;
  const lambdas: { id: string }[] = await get(`${metaUrl}/demo/lambdas`);
  const organizations: { name: string }[] = await get(`${metaUrl}/orgs`);
  return {
    world: organizations.map(({ name }) => name).filter((name) => name !== 'later'),
    tokens: await get(`${metaUrl}/orgs`, bearer(sampleIds.token)).then((orgs) => orgs.length > 0),
    results: await get(`${gatewayUrl}/results/${sampleIds.executionId}`, bearer(sampleIds.token)),
    leads: await get(`${baseUrl}/inspect/leads`),
    'outbound-rules': (await get(`${baseUrl}/inspect/outbound`)).rules,
    pipelines: await get(`${baseUrl}/inspect/pipelines/${sampleIds.pipelineRunId}`),
    'test-events': (await Promise.all(lambdas.map(({ id }) => get(`${baseUrl}/inspect/lambdas/${id}/workbench`)))).map(
      ({ events }) => events,
    ),
    scm: (await get(`${baseUrl}/inspect/scm/projects`)).map(({ id }: { id: number }) => id),
  };
}

/** Records something of each kind; `check` looks whether it is there. */
const later = {
  async record(emulator: Emulator) {
    const auth = rootOf(emulator);
    await send('POST', `${emulator.metaUrl}/root`, { auth, body: { name: 'later' } });
    await send('POST', `${emulator.baseUrl}/inspect/snapshots`, { auth, body: { name: 'later' } });
  },
  async check(emulator: Emulator, where: string) {
    const auth = rootOf(emulator);
    expect((await send('GET', `${emulator.metaUrl}/later`, { auth })).status, where).toBe(200);
    const compared = await send('GET', `${emulator.baseUrl}/inspect/snapshots/later/diff?brief=true`, { auth });
    expect(compared.status, where).toBe(200);
  },
};

async function namesIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return files.map((file) => relative(folder, join(file.parentPath, file.name))).sort();
}

beforeAll(async () => {
  await cp(SAMPLE_FOLDER, sample, { recursive: true });
  sampleIds = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8'));
  await rm(join(sample, 'expected.json'));
  await open(sample, async (emulator) => {
    // A commit in the journal at the time of the copy, as after a kill.
    await send('POST', `${emulator.metaUrl}/root`, { auth: rootOf(emulator), body: { name: 'last' } });
    intactData = await seenIn(emulator);
    await cp(sample, join(testFolder, 'killed'), { recursive: true });
  });
  await rm(join(testFolder, 'killed', 'lock'));
  names = (await namesIn(join(testFolder, 'killed'))).filter(
    (name) => !/^(records|lambdas)\/|^\.gitignore$|\.lock$/.test(name),
  );
  expect(names).toEqual(expect.arrayContaining(['journal.jsonl', 'passwords.json', 'root-api-key.json', 'world.json']));
});

/**
 * Starts on a damaged copy. Either the start is refused and the folder can be repaired, or the contents of all other files are available,
 * and new data is kept, which another start shows if `startsAgain`.
 */
async function expectSafe(
  name: string,
  description: string,
  damage: (path: string) => Promise<unknown>,
  startsAgain = false,
): Promise<boolean> {
  const where = `${name}: ${description}`;
  const folder = await mkdtemp(join(testFolder, 'run-'));
  await cp(join(testFolder, 'killed'), folder, { recursive: true });
  await damage(join(folder, name));
  const damaged = await readFile(join(folder, name));
  let isStarted = false;
  try {
    await open(folder, async (emulator) => {
      isStarted = true;
      const visibleData = await seenIn(emulator);
      const lost = Object.keys(intactData).filter(
        (kind) => JSON.stringify(visibleData[kind]) !== JSON.stringify(intactData[kind]),
      );
      // Results are read with a token.
      const affectedKinds = [name.replace(/\..*/, ''), ...(name === 'tokens.jsonl' ? ['results'] : [])];
      expect(
        lost.filter((kind) => !affectedKinds.includes(kind) && !(kind === 'world' && isPartOfWorld(name))),
        where,
      ).toEqual([]);
      await later.record(emulator);
    });
  } catch (failure) {
    if (isStarted) throw failure;
    expect(String(failure), where).toContain(name);
    expect((await readFile(join(folder, name))).equals(damaged), where).toBe(true);
    await cp(join(testFolder, 'killed', name), join(folder, name));
    await open(folder, async (emulator) => expect(await seenIn(emulator), where).toEqual(intactData));
  }
  if (isStarted && startsAgain) await open(folder, (emulator) => later.check(emulator, where));
  await rm(folder, { recursive: true });
  return isStarted;
}

const isPartOfWorld = (name: string) =>
  name === 'world.json' || name === 'journal.jsonl' || name.startsWith('history/');

/** Changes each byte of a part of a file. */
async function changeBytes(path: string, from: number, lengthBytes: number, change: (byte: number) => number) {
  const bytes = await readFile(path);
  const part = bytes.subarray(from, from + lengthBytes);
  part.set(part.map(change));
  await writeFile(path, bytes);
}

it('damage of any page or bit of a file prevents the start until it is repaired, or loses at most that file', async () => {
  const started = new Set<string>();
  for (const name of names) {
    const { size } = await stat(join(testFolder, 'killed', name));
    const kinds = new Map<string, (path: string) => Promise<unknown>>();
    for (const at of new Set([0, PAGE_BYTES * Math.trunc((size - 1) / PAGE_BYTES)])) {
      const bit = Math.min(at + (Math.trunc(at / 7) % PAGE_BYTES), size - 1);
      kinds.set(`zeros at ${at}`, (path) => changeBytes(path, at, PAGE_BYTES, () => 0));
      kinds.set(`one bit at ${bit}`, (path) => changeBytes(path, bit, 1, (byte) => byte ^ 0x10));
    }
    kinds.set('cut in half', (path) => truncate(path, Math.trunc(size / 2)));
    for (const [description, damage] of kinds) if (await expectSafe(name, description, damage)) started.add(name);
    if (await expectSafe(name, 'empty', (path) => truncate(path), true)) started.add(name);
  }
  console.info(`started with damage of ${[...started].join(', ')}`);
}, 600_000);

it.runIf(process.platform !== 'win32').each<[string, (path: string) => unknown]>([
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdir(join(path, 'with', 'folders'), { recursive: true })],
  ['a file that cannot be read', (path) => symlink(path, path)],
])(
  '%s in place of a file prevents the start with a message that names it and says what to do, or nothing',
  async (_what, replace) => {
    const unclear: string[] = [];
    for (const name of [...names, 'lock', 'history']) {
      const folder = await mkdtemp(join(testFolder, 'run-'));
      await cp(join(testFolder, 'killed'), folder, { recursive: true });
      await rm(join(folder, name), { force: true, recursive: true });
      await replace(join(folder, name));
      const failure = await open(folder, later.record).catch((cause: Error) => cause);
      if (
        failure &&
        !(
          failure.message.includes(`${name}: `) &&
          /(Move it away|Make it readable), and start again\.$/.test(failure.message)
        )
      )
        unclear.push(failure.message);
      await rm(folder, { recursive: true });
    }
    expect(unclear).toEqual([]);
  },
);
