import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { basic, type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type Body, createTenant, lambdaBody, makeUser, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
let acme: Tenant;

const tree = (path: string): Promise<Reply> => {
  const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
  return send('GET', `${platform.emulator.baseUrl}/inspect/tree${path}`, { auth: basic(apiKey, apiSecret) });
};
const namesOf = (rows: Body[]) => rows.map(({ name }) => name);

beforeAll(async () => {
  acme = await createTenant(platform.root, 'acme');
  for (const name of ['ten-10', 'ten-9', 'other']) {
    await platform.root.create(`${acme.environment}/lambdas`, lambdaBody(acme, name));
  }
  await platform.root.create(`${acme.environment}/apis`, { name: 'shop' });
});

describe('GET /inspect/tree/{id}/children', () => {
  it('lists the children by type and name, in pages', async () => {
    const { rows, total } = (await tree(`/${acme.environmentId}/children?limit=3`)).body;
    expect(total).toBe(4);
    expect(namesOf(rows)).toEqual(['other', 'ten-9', 'ten-10']);
    expect(rows[0]).toEqual({
      id: expect.any(String),
      name: 'other',
      word: 'lambdas',
      type: 'Resource::Node::Lambda',
      fqon: 'acme',
      parent: acme.environmentId,
      modified: expect.stringMatching(/Z$/),
      children: 0,
    });
    const second = (await tree(`/${acme.environmentId}/children?limit=3&offset=3`)).body;
    expect(namesOf(second.rows)).toEqual(['shop']);
  });

  it('gives those of the types that are asked for', async () => {
    const { rows } = (await tree(`/${acme.environmentId}/children?word=apis,volumes`)).body;
    expect(namesOf(rows)).toEqual(['shop']);
    expect(await tree(`/${acme.environmentId}/children?word=dragons`)).toMatchObject(refusal(400));
    expect(await tree(`/${acme.environmentId}/children?limit=none`)).toMatchObject(refusal(400));
  });
});

describe('for a user who can view a workspace and nothing above it', () => {
  it('the tree begins there, with the providers that can run a lambda there', async () => {
    const grace = await makeAccount(platform, 'grace');
    expect(namesOf((await tree('?tops=true')).body.rows)).toEqual(['root']);
    const body = { identities: [grace.id], role: 'viewer' };
    await send('PUT', `${platform.emulator.baseUrl}/inspect/roles/${acme.workspaceId}`, {
      auth: rootPairOf(platform),
      body,
    });
    const hers = async (path: string) =>
      (await send('GET', `${platform.emulator.baseUrl}/inspect/tree${path}`, { auth: grace.basic })).body;
    expect(namesOf((await hers('?tops=true')).rows)).toEqual(['ws', 'grace']);
    expect(namesOf((await hers(`/${acme.environmentId}/providers?type=Lambda`)).rows)).toEqual(['default-lambda']);
    expect(await hers(`/${acme.organizationId}/providers`)).toMatchObject({ code: 403 });
  });
});

describe('GET /inspect/tree/counts', () => {
  it('counts the types of the world, and those of a scope with itself', async () => {
    const { types } = (await tree(`/counts?scope=${acme.workspaceId}`)).body;
    expect(types).toEqual({ workspaces: 1, environments: 1, lambdas: 3, apis: 1 });
    const all = (await tree('/counts')).body;
    expect(all.total).toBe((await tree('')).body.total);
    expect(all.types.orgs).toBeGreaterThan(1);
  });
});

describe('GET /inspect/tree/{id}', () => {
  it('tells the way from the root and counts the children by type', async () => {
    const { resource, path, types } = (await tree(`/${acme.environmentId}`)).body;
    expect(resource).toMatchObject({ id: acme.environmentId, word: 'environments', children: 4 });
    expect(namesOf(path)).toEqual(['root', 'acme', 'ws']);
    expect(types).toEqual({ lambdas: 3, apis: 1 });
  });

  it('rejects missing resources', async () => {
    expect(await tree('/00000000-0000-4000-8000-000000000000')).toMatchObject(refusal(404));
    expect(await tree('/unknown')).toMatchObject(refusal(400));
  });
});

describe('GET /inspect/tree/{id}/below', () => {
  it('counts everything at any depth', async () => {
    const { rows, total, types } = (await tree(`/${acme.organizationId}/below?limit=2`)).body;
    expect(types).toMatchObject({ workspaces: 1, environments: 1, lambdas: 3, apis: 1 });
    expect(total).toBe(Object.values<number>(types).reduce((sum, count) => sum + count, 0));
    expect(rows).toHaveLength(2);
  });
});

describe('GET /inspect/tree/{id}/relations', () => {
  it('lists the resources that it references and that reference it', async () => {
    const [lambda] = (await tree('?q=other&word=lambdas')).body.rows;
    const { names } = (await tree(`/${lambda.id}/relations`)).body;
    expect(names.map(({ pointer }: Body) => pointer)).toEqual(['/properties/provider/id']);
    const { namedBy } = (await tree(`/${names[0].resource.id}/relations`)).body;
    expect(namesOf(namedBy.map(({ resource }: Body) => resource))).toContain('other');
  });
});

describe('GET /inspect/tree', () => {
  it('finds by parts of name and type anywhere, with the ancestors', async () => {
    const { rows, above, total } = (await tree('?q=TEN lambda')).body;
    expect(namesOf(rows).toSorted()).toEqual(['ten-10', 'ten-9']);
    expect(total).toBe(2);
    expect(namesOf(above).toSorted()).toEqual(['acme', 'env', 'root', 'ws']);
  });

  it('stays within a scope', async () => {
    await createTenant(platform.root, 'other-org');
    expect((await tree(`?q=env&word=environments&scope=${acme.workspaceId}`)).body.total).toBe(1);
    expect((await tree('?q=env&word=environments')).body.total).toBe(2);
  });

  it('hides resources that the caller cannot view', async () => {
    const { client } = await makeUser(platform, 'outsider');
    const found = () => client.send('GET', '/../inspect/tree?q=ten');
    expect((await found()).body).toEqual({ rows: [], above: [], total: 0 });
  });
});
