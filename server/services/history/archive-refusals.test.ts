import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { type ArchiveFixture, archiveFixture, importInto, seqOf } from '../../testing/archive.ts';
import { send } from '../../testing/checked-client.ts';
import { refusal } from '../../testing/platform.ts';
import type { Body } from '../../testing/tenant.ts';
import { zipOf } from '../../testing/zip.ts';

let fixture: ArchiveFixture;
beforeAll(async () => {
  fixture = await archiveFixture();
});
afterAll(() => fixture?.end());

describe('an archive is rejected, with the reason and without any change,', () => {
  const world = () => JSON.parse(fixture.files['world.json'] ?? '');
  const sealedWorld = (change: (world: ReturnType<typeof JSON.parse>) => void) => {
    const { checksum: _, ...changed } = world();
    change(changed);
    return fixture.zipWithManifest({ 'world.json': JSON.stringify(changed) });
  };
  const anyOf = (resources: Record<string, { type: string }>, type: string) =>
    Object.values(resources).find((resource) => resource.type.endsWith(type)) ?? {};
  const filesWithout = (name: string) =>
    Object.fromEntries(Object.entries(fixture.files).filter(([fileName]) => fileName !== name));
  const cases: [string, () => Buffer, RegExp][] = [
    ['when it is not a ZIP archive', () => Buffer.from('hello'), /not a ZIP archive/],
    ['when it is empty', () => Buffer.alloc(0), /not a ZIP archive/],
    ['when its end is missing', () => fixture.archive.subarray(0, -30), /not a ZIP archive/],
    [
      'when a bit has flipped',
      () => {
        const damaged = Buffer.from(fixture.archive);
        damaged[200] = (damaged[200] ?? 0) ^ 1;
        return damaged;
      },
      /cannot be imported/,
    ],
    ['when another program created it', () => zipOf({ 'index.html': '<p>' }), /no manifest\.json/],
    ['when a file is missing', () => zipOf(filesWithout('leads.jsonl')), /leads\.jsonl is missing/],
    [
      'when a file was changed',
      () => zipOf({ ...fixture.files, 'leads.jsonl': '\n' }),
      /leads\.jsonl is damaged: its SHA-256/,
    ],
    ['when a file was added', () => zipOf({ ...fixture.files, more: 'x' }), /more is not in its manifest/],
    [
      'when its format is a later one',
      () =>
        zipOf({
          ...fixture.files,
          'manifest.json': (fixture.files['manifest.json'] ?? '').replace('"format":1', '"format":2'),
        }),
      /does not match this version/,
    ],
    [
      'when its world is invalid',
      () => fixture.zipWithManifest({ 'world.json': '{}' }),
      /world\.json is not a valid world/,
    ],
    ['when a lead is invalid', () => fixture.zipWithManifest({ 'leads.jsonl': '{"key":"x","record":{}}\n' }), /id/],
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
      () => sealedWorld(({ resources }) => Object.assign(anyOf(resources, 'Environment'), { type: 'Resource::Moon' })),
      /Resource::Moon/,
    ],
    [
      'when there are two roots',
      () => sealedWorld(({ resources }) => Object.assign(anyOf(resources, 'Workspace'), { parent: null })),
      /exactly one root/,
    ],
    [
      'when something is below itself',
      () =>
        sealedWorld(({ resources }) => {
          const organization = Object.values<{ name: string; id: string }>(resources).find(
            ({ name }) => name === 'acme',
          );
          Object.assign(organization ?? {}, { parent: organization?.id });
        }),
      /is below itself/,
    ],
  ];
  const changedRecord = (type: string, change: (record: Body, resources: Record<string, Body>) => void) => () =>
    sealedWorld(({ resources }) => {
      const found = Object.values<Body>(resources).find((resource) => resource.type.endsWith(type));
      change(found, resources);
    });
  const added = (name: string, type: string, properties: object, parentType = 'Environment') =>
    changedRecord(parentType, (parent, resources) => {
      const id = '00000000-0000-4000-8000-00000000abcd';
      resources[id] = { ...parent, id, type: `Resource::${type}`, name, parent: parent.id, properties };
    });
  const lambda = (record: Body) => record.properties;
  const invalidRecords: [string, () => Buffer, RegExp][] = [
    [
      'when a property has another type',
      changedRecord('Node::Lambda', (record) => Object.assign(lambda(record), { timeout: 'long' })),
      /lambda \/acme\/ws\/env\/slow: \/properties\/timeout/,
    ],
    [
      'when a property is unknown',
      changedRecord('Node::Lambda', (record) => Object.assign(lambda(record), { colour: 1 })),
      /colour/,
    ],
    [
      'when a limit is exceeded',
      changedRecord('Node::Lambda', (record) => Object.assign(lambda(record), { timeout: 5000 })),
      /at most 500/,
    ],
    [
      'when a provider is of the wrong kind',
      changedRecord('Node::Lambda', (record) =>
        Object.assign(lambda(record), { provider: { id: fixture.acme.docker } }),
      ),
      /not a Lambda provider/,
    ],
    [
      'when a reference has no target',
      changedRecord('Node::Lambda', (record) =>
        Object.assign(lambda(record), { provider: { id: '00000000-0000-4000-8000-000000000009' } }),
      ),
      /provider .* not found/,
    ],
    [
      'when it names something of another type',
      changedRecord('Node::Lambda', (record) =>
        Object.assign(lambda(record), {
          secrets: [{ mount_type: 'env', path: 'A', secret_key: 'k', secret_id: fixture.acme.environmentId }],
        }),
      ),
      /is not the id of an existing secret: .* is the id of an environment/,
    ],
    [
      'when a name breaks the rules',
      changedRecord('Secret', (record) => Object.assign(record, { name: 'Not DNS' })),
      /\/name must/,
    ],
    [
      'when a volume is outside the allowed folders',
      () =>
        added('etc', 'Volume', {
          provider: { id: fixture.acme.docker },
          type: 'host_path',
          config: { host_path: '/etc' },
        })(),
      /inside an allowed directory/,
    ],
    [
      'when an unknown right is given',
      changedRecord('Workspace', (record) =>
        Object.assign(record, { grants: { 'moon.view': { add: [record.owner] } } }),
      ),
      /moon\.view/,
    ],
    [
      'when a permission is granted to an unknown id',
      changedRecord('Workspace', (record) =>
        Object.assign(record, { grants: { 'org.view': { add: [fixture.acme.environmentId] } } }),
      ),
      /org\.view|not the id of a user or group/,
    ],
    [
      'when the root organization has another name',
      changedRecord('Organization', (record, all) =>
        Object.assign(
          Object.values(all).find(({ parent }) => parent === null),
          { name: record.name === 'root' ? 'other' : 'other' },
        ),
      ),
      /not 'root'/,
    ],
  ];
  it.each([...cases, ...invalidRecords])('%s', async (_, make, reason) => {
    const seq = await seqOf(fixture.platform);
    const reply = await importInto(fixture.platform, await make());
    expect(reply).toMatchObject(refusal(400));
    expect(reply.body.message).toMatch(reason);
    expect(reply.body.message).toContain('Nothing was changed');
    expect(await seqOf(fixture.platform)).toBe(seq);
  });

  it('when the upload is interrupted', async () => {
    const { baseUrl } = fixture.platform.emulator;
    const headers = {
      Authorization: rootPairOf(fixture.platform),
      'Content-Type': 'application/zip',
      'Content-Length': fixture.archive.length,
    };
    const outgoing = http.request(`${baseUrl}/inspect/archive`, { method: 'POST', headers });
    outgoing.on('error', () => undefined); // that it is no longer open
    const seq = await seqOf(fixture.platform);
    await new Promise((resolve) => outgoing.write(fixture.archive.subarray(0, 100), resolve));
    outgoing.destroy();
    // The client does not read the response; the platform checks at the end that this was no internal error.
    expect(await seqOf(fixture.platform)).toBe(seq);
  });

  it('when its content type or its sender differs', async () => {
    const url = `${fixture.platform.emulator.baseUrl}/inspect/archive`;
    expect(await send('POST', url, { auth: rootPairOf(fixture.platform), body: {} })).toMatchObject(refusal(415));
    expect(await send('GET', url)).toMatchObject(refusal(401));
  });
});
