import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Entry, openPromise } from 'yauzl';
import yazl from 'yazl';
import { logIn } from '../../e2e/account.ts';
import { basic, bearer, type Reply, send } from '../../e2e/client.ts';
import { type Body, lambdaBody, makePlace, type Place } from '../../e2e/place.ts';
import { type Platform, refusal, startPlatform } from '../../e2e/platform.ts';

let platform: Platform;
let acme: Place;
let folder: string;
let archive: Buffer;
let files: Record<string, string>;

const authOf = ({ emulator: { rootCredentials } }: Platform) =>
  basic(rootCredentials.apiKey, rootCredentials.apiSecret ?? '');
const importInto = (target: Platform, body: Uint8Array): Promise<Reply> => {
  const headers = { 'Content-Type': 'application/zip' };
  return send('POST', `${target.emulator.baseUrl}/inspect/archive`, { auth: authOf(target), body, headers });
};
const seqOf = async (target: Platform): Promise<number> => {
  const url = `${target.emulator.baseUrl}/inspect/history?limit=1`;
  return (await send('GET', url, { auth: authOf(target) })).body.commits[0].seq;
};

async function exportFrom(target: Platform): Promise<Buffer> {
  const headers = { Authorization: authOf(target) };
  const response = await fetch(`${target.emulator.baseUrl}/inspect/archive`, { headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
  return Buffer.from(await response.arrayBuffer());
}

async function unzipped(zip: Buffer): Promise<Record<string, string>> {
  const path = join(folder, 'read.zip');
  await writeFile(path, zip);
  const opened = await openPromise(path, { autoClose: false });
  const texts: Record<string, string> = {};
  const textOf = async (entry: Entry) => {
    let text = '';
    for await (const chunk of await opened.openReadStreamPromise(entry)) text += chunk;
    return text;
  };
  for await (const entry of opened.eachEntry()) texts[entry.fileName] = await textOf(entry);
  opened.close();
  return texts;
}

function zipOf(contents: Record<string, string>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(contents)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return buffer(zip.outputStream);
}

/** A zip of these files whose manifest says what is in it. */
function sealed(changed: Record<string, string>): Promise<Buffer> {
  const manifest = JSON.parse(files['manifest.json'] ?? '');
  for (const [name, text] of Object.entries(changed)) {
    const sha256 = createHash('sha256').update(text).digest('hex');
    manifest.files[name] = { sizeBytes: Buffer.byteLength(text), sha256 };
  }
  return zipOf({ ...files, ...changed, 'manifest.json': JSON.stringify(manifest) });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium archive '));
  platform = await startPlatform();
  const { root, emulator } = platform;
  acme = await makePlace(root, 'acme');
  await root.create('/root/users', { name: 'ada', properties: { password: 'sesame-1' } });
  const properties = { provider: { id: acme.docker }, items: [{ key: 'k', value: 'sesame-2' }] };
  await root.create(`${acme.environment}/secrets`, { name: 'keys', properties });
  const code = 'exports.run = (event, context, callback) => callback(null, "later");';
  const lambda = await root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'slow', { code }));
  const auth = authOf(platform);
  const accepted = await send('POST', `${emulator.gatewayUrl}/api/async`, { auth, body: { lambdaId: lambda.id } });
  expect(accepted.status).toBe(200);
  await new Promise<void>((resolve, reject) => {
    const sent = https.request(`${emulator.crmUrl}/servlet/servlet.WebToLead?encoding=UTF-8`, {
      method: 'POST',
      rejectUnauthorized: false, // the stand-in signs its own
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    sent.once('response', (answer) => answer.resume().once('end', resolve)).once('error', reject);
    sent.end('oid=00D&email=ada%40example.com');
  });
  archive = await exportFrom(platform);
  files = await unzipped(archive);
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true });
});

describe('the archive of an instance', () => {
  it('holds the world, its history, leads and results, and says what each has to be', () => {
    const names = ['history.jsonl', 'leads.jsonl', 'manifest.json', 'results.jsonl', 'world.json'];
    expect(Object.keys(files).sort()).toEqual(names);
    const { files: listed, ...manifest } = JSON.parse(files['manifest.json'] ?? '');
    expect(manifest).toEqual({
      kind: 'terrarium-archive',
      format: 1,
      version: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    });
    for (const name of names.filter((one) => one !== 'manifest.json')) {
      const sha256 = createHash('sha256')
        .update(files[name] ?? '')
        .digest('hex');
      expect(listed[name]).toEqual({ sizeBytes: Buffer.byteLength(files[name] ?? ''), sha256 });
    }
    const { seq } = JSON.parse(files['world.json'] ?? '');
    const seqs = (files['history.jsonl'] ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).seq);
    expect(seqs).toEqual(Array.from({ length: seq }, (_, at) => seq - at));
    expect(files['leads.jsonl']).toContain('ada@example.com');
    expect(files['results.jsonl']?.trim().split('\n')).toHaveLength(1);
  });

  it('holds nothing secret', () => {
    const { apiKey, apiSecret } = platform.emulator.rootCredentials;
    for (const text of Object.values(files)) {
      expect(text).not.toMatch(/sesame|scrypt|PRIVATE KEY/);
      expect(text).not.toContain(apiKey);
      expect(text).not.toContain(apiSecret);
    }
    expect(files['world.json']).toContain('<hidden>');
  });

  it('breaks off when the history is damaged, so that nobody takes half of it for the whole', async () => {
    const data = join(folder, 'damaged');
    await (await startPlatform({ data })).stop();
    const history = join(data, 'history');
    const [name = ''] = await readdir(history);
    const text = await readFile(join(history, name), 'utf8');
    await writeFile(join(history, name), text.replace('"via":"', '"via": "'));
    const damaged = await startPlatform({ data });
    await expect(exportFrom(damaged)).rejects.toThrow();
    const url = `${damaged.emulator.baseUrl}/inspect/history`;
    const { status, body } = await send('GET', url, { auth: authOf(damaged) });
    expect([status, body.message]).toEqual([503, expect.stringContaining(join(history, name))]);
    await damaged.stop();
  });

  it('imported where it came from changes nothing, and brings back what has changed since', async () => {
    expect((await importInto(platform, archive)).body).toEqual({ leads: 0, hidden: [] });
    await platform.root.delete(`${acme.environment}?force=true`);
    const seq = await seqOf(platform);
    const { status, body } = await importInto(platform, archive);
    expect([status, body.commit.seq, body.commit.cause.action]).toEqual([200, seq + 1, 'archive.import']);
    expect(body.hidden.map(({ path }: { path: string }) => path)).toEqual(['/acme/ws/env/keys']);
    expect((await platform.root.get(acme.environment)).status).toBe(200);
    await platform.as('ada', 'sesame-1');
  });

  it('says beforehand what it would change, and changes nothing', async () => {
    const other = await startPlatform();
    const before = await seqOf(other);
    const headers = { 'Content-Type': 'application/zip' };
    const url = `${other.emulator.baseUrl}/inspect/archive?dryRun=true`;
    const { status, body } = await send('POST', url, { auth: authOf(other), body: archive, headers });
    expect(status).toBe(200);
    expect(body.total.create).toBeGreaterThan(5);
    expect(body.resources.map(({ path }: { path: string }) => path)).toContain('/acme');
    expect(await seqOf(other)).toBe(before);
    const damaged = await send('POST', url, { auth: authOf(other), body: archive.subarray(0, 99), headers });
    expect(damaged).toMatchObject(refusal(400));
    const { body: made } = await importInto(other, archive);
    expect(made.commit.resources).toHaveLength(body.total.create + body.total.update + body.total.delete);
    await other.stop();
  });

  it('makes another instance the same, whose root keeps its keys and password, by one commit that can be undone', async () => {
    const other = await startPlatform();
    const before = await other.root.get('/root');
    const { status, body } = await importInto(other, archive);
    expect(status).toBe(200);
    expect(body).toMatchObject({ leads: 1, commit: { cause: { note: expect.stringContaining('import') } } });
    expect(body.hidden.map(({ path }: { path: string }) => path).sort()).toEqual(['/acme/ws/env/keys', '/ada']);
    expect((await other.root.get('/root')).body.id).toBe(before.body.id);
    expect((await other.root.get(acme.environment)).status).toBe(200);
    await other.as('root', 'terrarium');
    await expect(other.as('ada', 'sesame-1')).rejects.toThrow('no token');
    await expect(other.as('ada', '<hidden>')).rejects.toThrow('no token');
    const { baseUrl } = other.emulator;
    expect((await send('GET', `${baseUrl}/inspect/leads`, { auth: authOf(other) })).body).toHaveLength(1);
    await send('POST', `${baseUrl}/inspect/restore`, { auth: authOf(other), body: { at: body.commit.seq - 1 } });
    expect(await other.root.get('/acme')).toMatchObject(refusal(404));
    await other.stop();
  });

  it('leaves root who he is, whatever it says of him, and takes passwords for what a request has (D-215)', async () => {
    const { checksum: _, ...world } = JSON.parse(files['world.json'] ?? '');
    const records: Body[] = Object.values(world.resources);
    const rootId = records.find(({ parent }) => parent === null).owner;
    const rootUser = world.resources[rootId];
    rootUser.name = 'mallory';
    rootUser.properties = { ...rootUser.properties, password: 'mine-now', disabled: true };
    records.find(({ name }) => name === 'ada').properties.password = 'sesame-9';
    const other = await startPlatform();
    expect((await importInto(other, await sealed({ 'world.json': JSON.stringify(world) }))).status).toBe(200);
    await other.as('root', 'terrarium');
    await expect(other.as('root', 'mine-now')).rejects.toThrow('no token');
    await other.as('ada', 'sesame-9');
    expect((await other.root.get('/users/self')).body.name).toBe('root');
    await other.stop();
  });

  it('ends what the accounts had whose passwords it replaces, and all of those that it does not have (D-216)', async () => {
    const { checksum: _, ...world } = JSON.parse(files['world.json'] ?? '');
    const records: Body[] = Object.values(world.resources);
    const other = await startPlatform();
    expect((await importInto(other, archive)).status).toBe(200);
    const { id } = records.find(({ name }) => name === 'ada');
    const password = [{ op: 'add', path: '/properties/password', value: 'first' }];
    expect((await other.root.patch(`/root/users/${id}`, password)).status).toBe(200);
    const bob = await other.root.create('/root/users', { name: 'bob', properties: { password: 'bobs' } });
    const credentialsOf = async (name: string, accountId: string, word: string) => {
      const { baseUrl, securityUrl } = other.emulator;
      const token = (await logIn(other, 'root', name, word)).body.access_token;
      const session = await send('POST', `${baseUrl}/inspect/session`, { body: { username: name, password: word } });
      const orgId = records.find(({ parent }) => parent === null)?.id;
      const made = await send('POST', `${securityUrl}/accounts/${accountId}/apiKeys`, {
        auth: authOf(other),
        body: { orgId: (await other.root.get('/root')).body.id ?? orgId },
      });
      expect([session.status, made.status]).toEqual([200, 201]);
      const ways: Record<string, Record<string, string>> = {
        token: { Authorization: bearer(token) },
        session: { Cookie: session.headers.get('set-cookie')?.split(';', 1)[0] ?? '' },
        key: { Authorization: basic(made.body.apiKey, made.body.apiSecret) },
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
    expect((await importInto(other, await sealed({ 'world.json': JSON.stringify(world) }))).status).toBe(200);
    // A key is no password: it stays good while its account is there, as after any change of a password.
    expect(await adas()).toEqual({ token: 401, session: 401, key: 200 });
    expect(await bobs()).toEqual({ token: 401, session: 401, key: 401 });
    expect((await logIn(other, 'root', 'ada', 'first')).status).toBe(400);
    expect((await logIn(other, 'root', 'ada', 'sesame-9')).status).toBe(200);
    await other.stop();
  });

  it('says which code will run, before and after (D-215)', async () => {
    const { checksum: _, ...world } = JSON.parse(files['world.json'] ?? '');
    const lambda = Object.values<Body>(world.resources).find(({ name }) => name === 'slow');
    lambda.properties.pre_warm = 1;
    const zip = await sealed({ 'world.json': JSON.stringify(world) });
    const other = await startPlatform();
    const runs = [{ id: lambda.id, type: 'lambdas', path: '/acme/ws/env/slow', reasons: ['1 kept ready'] }];
    const headers = { 'Content-Type': 'application/zip' };
    const url = `${other.emulator.baseUrl}/inspect/archive?dryRun=true`;
    expect((await send('POST', url, { auth: authOf(other), body: zip, headers })).body.runs).toEqual(runs);
    expect((await importInto(other, zip)).body.runs).toEqual(runs);
    expect((await importInto(other, zip)).body.runs).toBeUndefined();
    await other.stop();
  });

  describe('is refused, with the reason and without any change,', () => {
    const world = () => JSON.parse(files['world.json'] ?? '');
    const sealedWorld = (change: (world: ReturnType<typeof JSON.parse>) => void) => {
      const { checksum: _, ...changed } = world();
      change(changed);
      return sealed({ 'world.json': JSON.stringify(changed) });
    };
    const anyOf = (resources: Record<string, { type: string }>, type: string) =>
      Object.values(resources).find((one) => one.type.endsWith(type)) ?? {};
    const without = (name: string) => Object.fromEntries(Object.entries(files).filter(([one]) => one !== name));
    const cases: [string, () => Buffer | Promise<Buffer>, RegExp][] = [
      ['when it is no zip', () => Buffer.from('hello'), /no zip file/],
      ['when it is empty', () => Buffer.alloc(0), /no zip file/],
      ['when its end is missing', () => archive.subarray(0, -30), /no zip file/],
      [
        'when a bit has flipped',
        () => {
          const damaged = Buffer.from(archive);
          damaged[200] = (damaged[200] ?? 0) ^ 1;
          return damaged;
        },
        /cannot be imported/,
      ],
      ['when it is of somebody else', () => zipOf({ 'index.html': '<p>' }), /no manifest\.json/],
      ['when a file is missing', () => zipOf(without('leads.jsonl')), /leads\.jsonl is missing/],
      [
        'when a file was changed',
        () => zipOf({ ...files, 'leads.jsonl': '\n' }),
        /leads\.jsonl is damaged: its SHA-256/,
      ],
      ['when a file was added', () => zipOf({ ...files, more: 'x' }), /more is not in its manifest/],
      [
        'when it is of a later form',
        () => zipOf({ ...files, 'manifest.json': (files['manifest.json'] ?? '').replace('"format":1', '"format":2') }),
        /not that of an archive/,
      ],
      ['when its world is none', () => sealed({ 'world.json': '{}' }), /world\.json is no world/],
      ['when a lead is none', () => sealed({ 'leads.jsonl': '{"key":"x","record":{}}\n' }), /id/],
      [
        'when a record has lost its parent',
        () =>
          sealedWorld(({ resources }) =>
            Object.assign(anyOf(resources, 'Environment'), { parent: '00000000-0000-4000-8000-000000000009' }),
          ),
        /the parent of environment 'env' is missing/,
      ],
      [
        'when a type is unknown',
        () =>
          sealedWorld(({ resources }) => Object.assign(anyOf(resources, 'Environment'), { type: 'Resource::Moon' })),
        /Resource::Moon/,
      ],
      [
        'when there are two roots',
        () => sealedWorld(({ resources }) => Object.assign(anyOf(resources, 'Workspace'), { parent: null })),
        /not one root/,
      ],
      [
        'when something stands below itself',
        () =>
          sealedWorld(({ resources }) => {
            const organization = Object.values<{ name: string; id: string }>(resources).find(
              ({ name }) => name === 'acme',
            );
            Object.assign(organization ?? {}, { parent: organization?.id });
          }),
        /stands below itself/,
      ],
    ];
    const changedRecord = (type: string, change: (record: Body, resources: Record<string, Body>) => void) => () =>
      sealedWorld(({ resources }) => {
        const found = Object.values<Body>(resources).find((one) => one.type.endsWith(type));
        change(found, resources);
      });
    const added = (name: string, type: string, properties: object, of = 'Environment') =>
      changedRecord(of, (place, resources) => {
        const id = '00000000-0000-4000-8000-00000000abcd';
        resources[id] = { ...place, id, type: `Resource::${type}`, name, parent: place.id, properties };
      });
    const lambda = (record: Body) => record.properties;
    const lawless: [string, () => Promise<Buffer>, RegExp][] = [
      [
        'a property is of another type',
        changedRecord('Node::Lambda', (one) => Object.assign(lambda(one), { timeout: 'long' })),
        /lambda \/acme\/ws\/env\/slow: \/properties\/timeout/,
      ],
      [
        'a property is not known',
        changedRecord('Node::Lambda', (one) => Object.assign(lambda(one), { colour: 1 })),
        /colour/,
      ],
      [
        'a limit is passed',
        changedRecord('Node::Lambda', (one) => Object.assign(lambda(one), { timeout: 5000 })),
        /at most 500/,
      ],
      [
        'a provider is of the wrong kind',
        changedRecord('Node::Lambda', (one) => Object.assign(lambda(one), { provider: { id: acme.docker } })),
        /not a Lambda provider/,
      ],
      [
        'what it names is not there',
        changedRecord('Node::Lambda', (one) =>
          Object.assign(lambda(one), { provider: { id: '00000000-0000-4000-8000-000000000009' } }),
        ),
        /provider .* not found/,
      ],
      [
        'it names something of another type',
        changedRecord('Node::Lambda', (one) =>
          Object.assign(lambda(one), {
            secrets: [{ mount_type: 'env', path: 'A', secret_key: 'k', secret_id: acme.environmentId }],
          }),
        ),
        /names no secret: .* is the id of an environment/,
      ],
      [
        'a name breaks the rules',
        changedRecord('Secret', (one) => Object.assign(one, { name: 'Not DNS' })),
        /\/name must/,
      ],
      [
        'a volume is outside the allowed folders',
        () =>
          added('etc', 'Volume', { provider: { id: acme.docker }, type: 'host_path', config: { host_path: '/etc' } })(),
        /inside an allowed directory/,
      ],
      [
        'an unknown right is given',
        changedRecord('Workspace', (one) => Object.assign(one, { grants: { 'moon.view': { add: [one.owner] } } })),
        /moon\.view/,
      ],
      [
        'a right is given to nobody',
        changedRecord('Workspace', (one) =>
          Object.assign(one, { grants: { 'org.view': { add: [acme.environmentId] } } }),
        ),
        /org\.view|no user or group/,
      ],
      [
        'the root organization has another name',
        changedRecord('Organization', (one, all) =>
          Object.assign(
            Object.values(all).find(({ parent }) => parent === null),
            { name: one.name === 'root' ? 'other' : 'other' },
          ),
        ),
        /not 'root'/,
      ],
    ];
    it.each([...cases, ...lawless])('%s', async (_, make, reason) => {
      const seq = await seqOf(platform);
      const reply = await importInto(platform, await make());
      expect(reply).toMatchObject(refusal(400));
      expect(reply.body.message).toMatch(reason);
      expect(reply.body.message).toContain('Nothing was changed');
      expect(await seqOf(platform)).toBe(seq);
    });

    it('when it breaks off on its way', async () => {
      const { baseUrl } = platform.emulator;
      const headers = {
        Authorization: authOf(platform),
        'Content-Type': 'application/zip',
        'Content-Length': archive.length,
      };
      const sent = http.request(`${baseUrl}/inspect/archive`, { method: 'POST', headers });
      sent.on('error', () => undefined); // that it is no longer open
      const seq = await seqOf(platform);
      await new Promise((resolve) => sent.write(archive.subarray(0, 100), resolve));
      sent.destroy();
      // What it would be refused with nobody reads; that it is no fault of the emulator, the end of this file's platform tells.
      expect(await seqOf(platform)).toBe(seq);
    });

    it('when it is sent as something else, or by somebody else', async () => {
      const url = `${platform.emulator.baseUrl}/inspect/archive`;
      expect(await send('POST', url, { auth: authOf(platform), body: {} })).toMatchObject(refusal(415));
      expect(await send('GET', url)).toMatchObject(refusal(401));
    });
  });
});
