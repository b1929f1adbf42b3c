import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, rootPairOf } from '../../testing/account.ts';
import { type ArchiveFixture, archiveFixture, exportFrom, importInto, seqOf } from '../../testing/archive.ts';
import { basic, bearer, send } from '../../testing/checked-client.ts';
import { refusal, startPlatform } from '../../testing/platform.ts';
import type { Body } from '../../testing/tenant.ts';

let fixture: ArchiveFixture;
beforeAll(async () => {
  fixture = await archiveFixture();
});
afterAll(() => fixture?.end());

describe('the archive of an instance', () => {
  it('contains the world, its history, leads and results, with their checksums', () => {
    const names = ['history.jsonl', 'leads.jsonl', 'mails.jsonl', 'manifest.json', 'results.jsonl', 'world.json'];
    expect(Object.keys(fixture.files).sort()).toEqual(names);
    const { files: listed, ...manifest } = JSON.parse(fixture.files['manifest.json'] ?? '');
    expect(manifest).toEqual({
      kind: 'terrarium-archive',
      format: 1,
      version: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    });
    for (const name of names.filter((file) => file !== 'manifest.json')) {
      const sha256 = createHash('sha256')
        .update(fixture.files[name] ?? '')
        .digest('hex');
      expect(listed[name]).toEqual({ sizeBytes: Buffer.byteLength(fixture.files[name] ?? ''), sha256 });
    }
    const { seq } = JSON.parse(fixture.files['world.json'] ?? '');
    const seqs = (fixture.files['history.jsonl'] ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).seq);
    expect(seqs).toEqual(Array.from({ length: seq }, (_, at) => seq - at));
    expect(fixture.files['leads.jsonl']).toContain('ada@example.com');
    expect(fixture.files['results.jsonl']?.trim().split('\n')).toHaveLength(1);
  });

  it('contains no secrets', () => {
    const { apiKey, apiSecret } = fixture.platform.emulator.rootCredentials;
    for (const text of Object.values(fixture.files)) {
      expect(text).not.toMatch(/sesame|scrypt|PRIVATE KEY/);
      expect(text).not.toContain(apiKey);
      expect(text).not.toContain(apiSecret);
    }
    expect(fixture.files['world.json']).toContain('<hidden>');
  });

  it('aborts the download if the history is damaged, so that an incomplete archive is recognizable', async () => {
    const data = join(fixture.folder, 'damaged');
    await (await startPlatform({ data })).stop();
    const history = join(data, 'history');
    const [name = ''] = await readdir(history);
    const text = await readFile(join(history, name), 'utf8');
    await writeFile(join(history, name), text.replace('"via":"', '"via": "'));
    const damaged = await startPlatform({ data });
    await expect(exportFrom(damaged)).rejects.toThrow();
    const url = `${damaged.emulator.baseUrl}/inspect/history`;
    const { status, body } = await send('GET', url, { auth: rootPairOf(damaged) });
    expect([status, body.message]).toEqual([503, expect.stringContaining(join(history, name))]);
    await damaged.stop();
  });

  it('imported where it came from, it changes nothing, and restores later changes', async () => {
    expect((await importInto(fixture.platform, fixture.archive)).body).toEqual({ leads: 0, hidden: [] });
    await fixture.platform.root.delete(`${fixture.acme.environment}?force=true`);
    const seq = await seqOf(fixture.platform);
    const { status, body } = await importInto(fixture.platform, fixture.archive);
    expect([status, body.commit.seq, body.commit.cause.action]).toEqual([200, seq + 1, 'archive.import']);
    expect(body.hidden.map(({ path }: { path: string }) => path)).toEqual(['/acme/ws/env/keys']);
    expect((await fixture.platform.root.get(fixture.acme.environment)).status).toBe(200);
    await fixture.platform.as('ada', 'sesame-1');
  });

  it('a dry run lists the changes, and changes nothing', async () => {
    const other = await startPlatform();
    const before = await seqOf(other);
    const headers = { 'Content-Type': 'application/zip' };
    const url = `${other.emulator.baseUrl}/inspect/archive?dryRun=true`;
    const { status, body } = await send('POST', url, { auth: rootPairOf(other), body: fixture.archive, headers });
    expect(status).toBe(200);
    expect(body.total.create).toBeGreaterThan(5);
    expect(body.resources.map(({ path }: { path: string }) => path)).toContain('/acme');
    expect(await seqOf(other)).toBe(before);
    const damaged = await send('POST', url, {
      auth: rootPairOf(other),
      body: fixture.archive.subarray(0, 99),
      headers,
    });
    expect(damaged).toMatchObject(refusal(400));
    const { body: imported } = await importInto(other, fixture.archive);
    expect(imported.commit.resources).toHaveLength(body.total.create + body.total.update + body.total.delete);
    await other.stop();
  });

  it('makes another instance the same, whose root keeps its keys and password, by one commit that can be undone', async () => {
    const other = await startPlatform();
    const before = await other.root.get('/root');
    const { status, body } = await importInto(other, fixture.archive);
    expect(status).toBe(200);
    expect(body).toMatchObject({ leads: 1, commit: { cause: { note: expect.stringContaining('import') } } });
    expect(body.hidden.map(({ path }: { path: string }) => path).sort()).toEqual(['/acme/ws/env/keys', '/ada']);
    expect((await other.root.get('/root')).body.id).toBe(before.body.id);
    expect((await other.root.get(fixture.acme.environment)).status).toBe(200);
    await other.as('root');
    await expect(other.as('ada', 'sesame-1')).rejects.toThrow('no token');
    await expect(other.as('ada', '<hidden>')).rejects.toThrow('no token');
    const { baseUrl } = other.emulator;
    expect((await send('GET', `${baseUrl}/inspect/leads`, { auth: rootPairOf(other) })).body).toHaveLength(1);
    await send('POST', `${baseUrl}/inspect/restore`, { auth: rootPairOf(other), body: { at: body.commit.seq - 1 } });
    expect(await other.root.get('/acme')).toMatchObject(refusal(404));
    await other.stop();
  });

  it('does not change the root user, even if its id is in upper case, and reads passwords as requests do (D-215)', async () => {
    const { checksum: _, ...world } = JSON.parse(fixture.files['world.json'] ?? '');
    const records: Body[] = Object.values(world.resources);
    const rootId = records.find(({ parent }) => parent === null).owner;
    const rootUser = world.resources[rootId];
    rootUser.name = 'mallory';
    rootUser.properties = { ...rootUser.properties, password: 'mine-now', disabled: true };
    records.find(({ name }) => name === 'ada').properties.password = 'sesame-9';
    const other = await startPlatform();
    const text = JSON.stringify(world).replaceAll(rootId, rootId.toUpperCase());
    expect((await importInto(other, await fixture.zipWithManifest({ 'world.json': text }))).status).toBe(200);
    await other.as('root');
    await expect(other.as('root', 'mine-now')).rejects.toThrow('no token');
    await other.as('ada', 'sesame-9');
    expect((await other.root.get('/users/self')).body.name).toBe('root');
    await other.stop();
  });

  it('revokes the tokens of accounts whose passwords it replaces, and of accounts that it omits (D-216)', async () => {
    const { checksum: _, ...world } = JSON.parse(fixture.files['world.json'] ?? '');
    const records: Body[] = Object.values(world.resources);
    const other = await startPlatform();
    expect((await importInto(other, fixture.archive)).status).toBe(200);
    const { id } = records.find(({ name }) => name === 'ada');
    const password = [{ op: 'add', path: '/properties/password', value: 'first' }];
    expect((await other.root.patch(`/root/users/${id}`, password)).status).toBe(200);
    const bob = await other.root.create('/root/users', { name: 'bob', properties: { password: 'bobs' } });
    const credentialsOf = async (name: string, accountId: string, password: string) => {
      const { baseUrl, securityUrl } = other.emulator;
      const token = (await logIn(other, 'root', name, password)).body.access_token;
      const session = await send('POST', `${baseUrl}/inspect/session`, {
        body: { username: name, password: password },
      });
      const orgId = records.find(({ parent }) => parent === null)?.id;
      const newKey = await send('POST', `${securityUrl}/accounts/${accountId}/apiKeys`, {
        auth: rootPairOf(other),
        body: { orgId: (await other.root.get('/root')).body.id ?? orgId },
      });
      expect([session.status, newKey.status]).toEqual([200, 201]);
      const ways: Record<string, Record<string, string>> = {
        token: { Authorization: bearer(token) },
        session: { Cookie: session.headers.get('set-cookie')?.split(';', 1)[0] ?? '' },
        key: { Authorization: basic(newKey.body.apiKey, newKey.body.apiSecret) },
      };
      return async () => {
        const statuses = Object.entries(ways).map(async ([way, headers]) => [
          way,
          (await fetch(`${other.emulator.metaUrl}/users/self`, { headers })).status,
        ]);
        return Object.fromEntries(await Promise.all(statuses));
      };
    };
    const adas = await credentialsOf('ada', id, 'first');
    const bobs = await credentialsOf('bob', bob.id, 'bobs');
    const all = { token: 200, session: 200, key: 200 };
    expect([await adas(), await bobs()]).toEqual([all, all]);

    records.find(({ name }) => name === 'ada').properties.password = 'sesame-9';
    expect(
      (await importInto(other, await fixture.zipWithManifest({ 'world.json': JSON.stringify(world) }))).status,
    ).toBe(200);
    // A key is not a password: it stays valid as long as its account exists, also after a password change.
    expect(await adas()).toEqual({ token: 401, session: 401, key: 200 });
    expect(await bobs()).toEqual({ token: 401, session: 401, key: 401 });
    expect((await logIn(other, 'root', 'ada', 'first')).status).toBe(400);
    expect((await logIn(other, 'root', 'ada', 'sesame-9')).status).toBe(200);
    await other.stop();
  });

  it('says which code will run, before and after (D-215)', async () => {
    const { checksum: _, ...world } = JSON.parse(fixture.files['world.json'] ?? '');
    const lambda = Object.values<Body>(world.resources).find(({ name }) => name === 'slow');
    lambda.properties.pre_warm = 1;
    const zip = await fixture.zipWithManifest({ 'world.json': JSON.stringify(world) });
    const other = await startPlatform();
    const runs = [{ id: lambda.id, type: 'lambdas', path: '/acme/ws/env/slow', reasons: ['1 kept ready'] }];
    const headers = { 'Content-Type': 'application/zip' };
    const url = `${other.emulator.baseUrl}/inspect/archive?dryRun=true`;
    expect((await send('POST', url, { auth: rootPairOf(other), body: zip, headers })).body.runs).toEqual(runs);
    expect((await importInto(other, zip)).body.runs).toEqual(runs);
    expect((await importInto(other, zip)).body.runs).toBeUndefined();
    await other.stop();
  });
});
