import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn } from '../server/testing/account.ts';
import { basic, bearer, send } from '../server/testing/checked-client.ts';
import { freePort } from '../server/testing/free-port.ts';
import { type Platform, refusal, startPlatform } from '../server/testing/platform.ts';
import { startRequestRecorder } from '../server/testing/request-recorder.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { createTenant } from '../server/testing/tenant.ts';

/** A platform on a real file system of a few megabytes that becomes full or read-only. */
const SIZE = '4m';
const CHUNK = Buffer.alloc(64 * 1024);
const PAGE_BYTES = 4096;
/** Length of a result that does not fit into the rest of a page. */
const LONG = 20_000;

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'terrarium disk '));
const skipReason = await mount();
if (skipReason) {
  console.warn(`the tests of a full and a read-only disk are skipped: ${skipReason}`);
  if (process.env.CI && process.getuid?.() === 0) throw new Error(`they have to run here: ${skipReason}`);
}

/** Mounts the small file system; resolves to the reason if that is not possible here. */
async function mount(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'they mount a tmpfs, which takes Linux';
  const failure = (error: unknown) => String(error instanceof Error ? error.message : error).trim();
  return run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'tmpfs', folder]).then(() => undefined, failure);
}

const remount = (option: 'ro' | 'rw') => run('mount', ['-o', `remount,${option}`, folder]);

/** Uses up the free space; returns a function that frees it again. */
function fillDisk(): () => void {
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  try {
    for (let length = CHUNK.length; length >= 1; ) {
      try {
        writeSync(file, CHUNK, 0, length);
      } catch {
        length = Math.floor(length / 2);
      }
    }
  } finally {
    closeSync(file);
  }
  return () => rmSync(path);
}

/** Sends a form as a lambda would; resolves to the status of the answer. The mock's certificate is its own. */
async function sendLead(crmUrl: string, name: string): Promise<number> {
  const clientRequest = request(`${crmUrl}/servlet/servlet.WebToLead`, {
    method: 'POST',
    rejectUnauthorized: false,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  clientRequest.end(new URLSearchParams({ oid: '1', last_name: name }).toString());
  const [response] = await once(clientRequest, 'response');
  response.resume();
  return response.statusCode;
}

/** Repeats requests until one is rejected: a full disk still has space in the last page of a file. */
async function repeatUntilRefused<T extends { status: number }>(attempt: () => Promise<T>) {
  for (let accepted = 0; accepted < PAGE_BYTES; accepted++) {
    const refused = await attempt();
    if (refused.status >= 400) return { accepted, refused };
  }
  throw new Error('the disk is not full');
}

const gatewayPort = await freePort();
let platform: Platform;
const start = async () => {
  platform = await startPlatform({
    data: join(folder, 'data'),
    rootApiKey: 'disk',
    rootApiSecret: 'test',
    gatewayPort, // a different gateway port at each start would be a change of the world
    records: { keep: 'memory' }, // this disk never has the space that recording leaves free (docs/internals/decisions/records.md)
  });
};
const auth = basic('disk', 'test');
const meta = (method: string, path: string, body?: unknown) =>
  send(method, `${platform.emulator.metaUrl}${path}`, { auth, body });
/** Resolves to true if `GET /meta/health` reports that the last write to the file failed. */
const isReported = async (file: string): Promise<boolean> =>
  ((await meta('GET', '/health')).body.failed ?? []).some((failure: string) =>
    new RegExp(`${file} failed .*The disk is full`).test(failure),
  );
const names = async (): Promise<string[]> =>
  (await meta('GET', '/orgs')).body.map(({ name }: { name: string }) => name);

beforeAll(async () => {
  if (!skipReason) await start();
});
afterAll(async () => {
  await platform?.stop();
  if (!skipReason) await run('umount', [folder]);
  await rm(folder, { recursive: true });
});

describe.skipIf(skipReason !== undefined)('on a small disk', () => {
  it('refuses writes with the reason when it is full, keeps acknowledged ones, and continues when there is space', async () => {
    expect((await meta('POST', '/root', { name: 'before' })).status).toBe(201);
    const acknowledged = await names();
    const free = fillDisk();
    const big = { name: 'refused', description: 'x'.repeat(100_000) };
    const refused = await meta('POST', '/root', big);
    expect(refused).toMatchObject(refusal(503));
    expect(refused.body.message).toMatch(/journal\.jsonl failed .*The disk is full: free some space, then repeat/);
    expect((await meta('GET', '/health')).status).toBe(503);
    expect(await isReported('journal.jsonl')).toBe(true);
    const { baseUrl } = platform.emulator;
    const snapshot = await send('POST', `${baseUrl}/inspect/snapshots`, { auth, body: { name: 'disk-full' } });
    expect(snapshot).toMatchObject(refusal(503));
    expect(snapshot.body.message).toContain('The disk is full');
    for (const [path, body] of [
      ['reset', { seed: 'demo' }],
      ['apply', { format: 1, users: { grace: {} } }],
    ] as const) {
      const result = await send('POST', `${baseUrl}/inspect/${path}`, { auth, body });
      expect([result.status, result.body.message]).toEqual([503, expect.stringContaining('The disk is full')]);
    }
    expect(await names()).toEqual(acknowledged);

    free();
    expect((await meta('POST', '/root', { name: 'after' })).status).toBe(201);
    expect(await isReported('journal.jsonl')).toBe(false);
    await expect.poll(async () => (await meta('GET', '/health')).status).toBe(200);
    await platform.stop();
    await start();
    expect(await meta('GET', '/health')).toMatchObject({ status: 200 });
    expect(await names()).toEqual(expect.arrayContaining([...acknowledged, 'after']));
    expect((await send('GET', `${platform.emulator.baseUrl}/inspect/snapshots`, { auth })).body).toEqual([]);
  });

  it('returns results of asynchronous calls from memory while it is full, and saves them once there is space', async () => {
    const recorder = await startRequestRecorder();
    const { emulator } = platform;
    const root = await platform.as('root');
    const [make, tenant] = [resourceFactoryFor(root), await createTenant(root, 'async')];
    const lambda = await make.lambda(tenant, {
      code: recorder.code.replace("'reported')", `'reported'.padEnd(${LONG}, '.'))`),
    });
    const api = await make.api(tenant);
    const endpoint = await make.endpoint(api, lambda, { synchronous: false });
    const token = bearer((await logIn(platform, 'root', 'root')).body.access_token);
    const result = (id: string) => send('GET', `${platform.emulator.gatewayUrl}/results/${id}`, { auth: token });
    const call = () => send('POST', `${emulator.gatewayUrl}/${api.name}/${endpoint.name}`, { body: {} });
    const release = recorder.suspend();
    const { lambdaId: id } = (await call()).body;
    await recorder.take(1);
    expect(await result(id)).toMatchObject({ status: 404, body: { message: 'result not available yet' } });
    const free = fillDisk();
    release();
    await expect.poll(async () => (await result(id)).status).toBe(200);
    expect((await result(id)).body.result).toHaveLength(LONG);

    const { accepted, refused } = await repeatUntilRefused(call);
    expect(refused).toMatchObject(refusal(503));
    expect(refused.body.message).toContain('The disk is full');
    await recorder.take(accepted);
    expect(recorder.untaken).toEqual([]);
    expect(await isReported('results.jsonl')).toBe(true);

    free();
    await expect.poll(() => isReported('results.jsonl')).toBe(false);
    await platform.stop();
    await start();
    expect((await result(id)).body.result).toHaveLength(LONG);
    await recorder.stop();
  });

  it('refuses tokens, keys and leads while it is full, and leaves those that there are as they are', async () => {
    const { securityUrl, baseUrl, crmUrl } = platform.emulator;
    const issue = () => logIn(platform, 'root', 'root');
    const token = bearer((await issue()).body.access_token);
    const { body: self } = await send('GET', `${platform.emulator.metaUrl}/users/self`, { auth });
    const make = () => send('POST', `${securityUrl}/accounts/${self.id}/apiKeys`, { auth });
    const { apiKey, apiSecret } = (await make()).body;
    const leads = async () => (await send('GET', `${baseUrl}/inspect/leads`, { auth })).body.length;
    expect(await sendLead(crmUrl, 'kept')).toBe(200);
    const earlierLeads = await leads();

    const free = fillDisk();
    for (const attempt of [issue, make])
      expect((await repeatUntilRefused(attempt)).refused).toMatchObject({ status: 503 });
    const revoked = await send('DELETE', `${securityUrl}/apiKeys/${apiKey}`, { auth });
    expect(revoked).toMatchObject(refusal(503));
    expect(revoked.body.message).toContain('The disk is full');
    const { accepted } = await repeatUntilRefused(async () => ({ status: await sendLead(crmUrl, 'more') }));
    for (const validAuth of [token, basic(apiKey, apiSecret)]) {
      expect((await send('GET', `${platform.emulator.metaUrl}/orgs`, { auth: validAuth })).status).toBe(200);
    }
    expect(await leads()).toBe(earlierLeads + accepted);
    expect(await isReported('leads.jsonl')).toBe(true);

    free();
    // Without a request, each file is tried.
    await expect.poll(async () => (await meta('GET', '/health')).status).toBe(200);
    expect((await issue()).status).toBe(200);
    expect(await sendLead(crmUrl, 'after')).toBe(200);
    expect(await leads()).toBe(earlierLeads + accepted + 1);
  });

  it('rejects writes with the reason when it has become read-only, and continues when it is writable again', async () => {
    await platform.stop();
    await start(); // so that no file is open for writing, which would keep the disk from becoming read-only
    const acknowledged = await names();
    await remount('ro');
    const refused = await meta('POST', '/root', { name: 'refused' });
    expect(refused).toMatchObject(refusal(503));
    expect(refused.body.message).toContain('The file system is read-only: make it writable');
    expect(await names()).toEqual(acknowledged);
    await remount('rw');
    expect((await meta('POST', '/root', { name: 'writable' })).status).toBe(201);
    await platform.stop();

    await remount('ro');
    await expect(start()).rejects.toThrow(/lock: cannot be written \(EROFS\)/);
    await remount('rw');
    await start();
    expect(await names()).toContain('writable');
  });

  it('says what to do when it is started after it was killed on a full disk, and starts when there is space', async () => {
    const before = await names();
    await platform.stop();
    const lock = join(folder, 'data', 'lock');
    await writeFile(lock, '4194304\n1\n'); // process id of an ended process
    const free = fillDisk();
    for (let times = 0; times < 2; times += 1)
      await expect(start()).rejects.toThrow(/lock\S*: cannot be written \(ENOSPC\)\. Free some space on the disk/);
    free();
    await start();
    expect(await names()).toEqual(before);
  });
});
