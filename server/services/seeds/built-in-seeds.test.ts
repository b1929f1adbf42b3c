import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PROVIDERS, PlainWorld } from '../../testing/plain-world.ts';
import { applySeed } from './apply-seed.ts';
import { readPreparedSeed, readSeed } from './read-seed.ts';

const FIXTURES = fileURLToPath(new URL('../../../fixtures/', import.meta.url));

describe('the seeds that come along', () => {
  it('demo: a website whose form becomes a lead, and a slow report', async () => {
    const world = new PlainWorld();
    const named = await applySeed(await readSeed(path.join(FIXTURES, 'worlds/demo.yaml')), world);
    expect(new Set(named)).toEqual(
      new Set(world.created.slice(DEFAULT_PROVIDERS.length).map(({ id }) => id)).add(world.rootId),
    );

    const development = 'orgs/demo/workspaces/website/environments/development';
    const form = world.at(`${development}/lambdas/contact-form`);
    expect(form.body.properties).toMatchObject({
      provider: { id: world.at('providers/default-lambda').id },
      code: (await readFile(path.join(FIXTURES, 'lambdas/web-form.js'))).toString('base64'),
      handler: 'run',
    });
    expect(world.propertiesAt(`${development}/apis/website`)).toEqual({
      provider: {
        id: world.at('providers/default-gateway-manager').id,
        locations: [world.at('providers/default-gateway').id],
      },
    });
    expect(world.propertiesAt(`${development}/apis/website/apiendpoints/lead`)).toEqual({
      resource: '/lead',
      methods: ['POST'],
      implementation_type: 'lambda',
      implementation_id: form.id,
      plugins: { rateLimit: { enabled: true, perMinute: 60 } },
    });
    const summary = world.at('orgs/demo/workspaces/reporting/environments/development/lambdas/slow-summary');
    expect(
      world.propertiesAt('orgs/demo/workspaces/reporting/environments/development/apis/api/apiendpoints/async'),
    ).toMatchObject({ resource: '/async', synchronous: false, implementation_id: summary.id });
    expect(
      ['development', 'test', 'production'].map((name) =>
        world.propertiesAt(`orgs/demo/workspaces/website/environments/${name}`),
      ),
    ).toEqual([{ environment_type: 'development' }, { environment_type: 'test' }, { environment_type: 'production' }]);

    const developers = world.at('orgs/demo/groups/developers');
    expect(developers.body.properties).toEqual({
      users: [world.at('users/ada.byrne').id, world.at('users/milo.tanaka').id],
    });
    const ci = world.at('users/ci-service').id;
    expect(world.grants.get(world.rootId)).toEqual({ 'provider.view': { add: [developers.id, ci] } });
    expect(world.grants.get(world.at('orgs/demo').id)?.['lambda.invoke']).toEqual({ add: [developers.id] });
    expect(world.grants.get(world.at(development).id)?.['container.create']).toEqual({ add: [ci] });
  });

  it('are read from what the build has made of them, as long as that is of the same text', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-seed-'));
    try {
      const [file, prepared] = [path.join(folder, 'world.yaml'), path.join(folder, 'worlds.json')];
      const text = 'format: 1\norgs: { written: {} }\n';
      await writeFile(file, text);
      const hash = createHash('sha256').update(text).digest('hex');
      await writeFile(prepared, JSON.stringify({ [hash]: { format: 1, orgs: { prepared: {} } } }));
      const nameNow = async () => (await readPreparedSeed(file, prepared)).root.children[0]?.name;
      expect(await nameNow()).toBe('prepared');
      await writeFile(file, `${text}# and more`);
      expect(await nameNow()).toBe('written');
      await rm(prepared);
      expect(await nameNow()).toBe('written');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('empty: the default providers and nothing else', async () => {
    const world = new PlainWorld();
    expect(await applySeed(await readSeed(path.join(FIXTURES, 'worlds/empty.yaml')), world)).toEqual([world.rootId]);
    expect(world.created.map(({ body }) => body.name)).toEqual(DEFAULT_PROVIDERS);
  });
});
