import * as fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, entitlementOf, grant, type Tenant } from '../../testing/tenant.ts';

const { root } = sharedPlatform();
let make: ResourceFactory;
beforeAll(async () => {
  make = resourceFactoryFor(root);
});

/** Resolves to all that a client can know of a world: every record of every organization, by id. */
async function everything(): Promise<Map<string, Body>> {
  const orgs: Body[] = (await root.get('/orgs?expand=true')).body;
  const lists = await Promise.all(
    orgs.map(async (org) => (await root.get(`/${org.properties.fqon}/resources?expand=true`)).body),
  );
  return new Map([...orgs, ...lists.flat()].map((record: Body) => [record.id, record]));
}

/** Chooses one of a list, which must not be empty. */
type Pick = <T>(list: readonly T[]) => T;

/** Two places that mention each other's users, groups, lambdas and engine, as it comes. */
async function mingle(pick: Pick): Promise<{ tenants: Tenant[]; identities: string[]; victims: string[] }> {
  const tenants = [await createTenant(root, make.fresh('one')), await createTenant(root, make.fresh('two'))];
  const orgs = ['/root', ...tenants.map(({ org }) => org)];
  const users = [await make.user(pick(orgs)), await make.user(pick(orgs)), await make.user(pick(orgs))];
  const groups = [];
  for (const user of users) groups.push(await make.group(pick(orgs), [...new Set([user.id, pick(users).id])]));
  const lambdas = [await make.lambda(pick(tenants)), await make.lambda(pick(tenants))];
  const engine = await make.provider(pick(tenants), 'CaaS::Docker');
  const otherVictims = [];
  for (const tenant of tenants) {
    const engines = [engine.id, tenant.docker];
    const volume = await make.volume(tenant, { provider: { id: pick(engines) } });
    const container = await make.container(pick(tenants), {
      provider: { id: pick(engines) },
      volumes: [{ mount_path: '/v', volume_id: volume.id }],
    });
    const security = { enabled: true, users: [pick(users).id], groups: [pick(groups).id] };
    await make.endpoint(await make.api(tenant), pick(lambdas), { plugins: { platformSecurity: security } });
    await grant(root, tenant.environment, 'lambda.view', pick(users).id, pick(groups).id);
    otherVictims.push(volume.id, container.id, tenant.organizationId, tenant.workspaceId, tenant.environmentId);
  }
  const identities = [...users, ...groups].map(({ id }) => id);
  return { tenants, identities, victims: [...identities, engine.id, ...lambdas.map(({ id }) => id), ...otherVictims] };
}

/** The containers that stand outside a place and mount a volume in it. */
function mountsFromOutside(locationId: string, world: ReadonlyMap<string, Body>): Body[] {
  const isInside = (id: string | undefined): boolean =>
    id !== undefined && (id === locationId || isInside(world.get(id)?.properties.parent?.id));
  return [...world.values()].filter(({ id, properties: { volumes = [] } }) => {
    return !isInside(id) && volumes.some((mount: Body) => isInside(mount.volume_id));
  });
}

async function expectClean(
  victim: string,
  tenants: readonly Tenant[],
  identities: readonly string[],
  before: ReadonlyMap<string, Body>,
  after: ReadonlyMap<string, Body>,
): Promise<void> {
  const deletedIds = new Set([...before.keys()].filter((id) => !after.has(id)));
  expect(deletedIds).toContain(victim);
  for (const id of deletedIds) {
    const { parent, provider } = before.get(id).properties;
    // What went was below the victim, or a workload of a provider that went.
    expect(id === victim || deletedIds.has(parent?.id) || deletedIds.has(provider?.id)).toBe(true);
    // Not only out of the lists, as an orphan would be.
    expect((await root.get(`/root/resources/${id}`)).status).toBe(404);
  }
  for (const { properties } of after.values()) {
    if (properties.parent) expect(after.has(properties.parent.id)).toBe(true);
  }
  const remainingTenants = tenants.filter(({ environmentId }) => after.has(environmentId));
  const rights = await Promise.all(
    remainingTenants.map((tenant) => entitlementOf(root, tenant.environment, 'lambda.view')),
  );
  const mentions = JSON.stringify([...after.values(), ...rights].map(({ properties }) => properties));
  for (const id of identities.filter((identity) => deletedIds.has(identity))) expect(mentions).not.toContain(id);
}

it('a forced deletion leaves no record whose parent is gone and no mention of whom it deletes, and takes nothing else along (D-072, D-128, D-129)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
      const pick: Pick = <T>(list: readonly T[]) => list[numbers.next().value % list.length] as T; // see Pick
      const { tenants, identities, victims } = await mingle(pick);
      const before = await everything();
      const victim = pick(victims);
      const { status } = await root.delete(`/root/resources/${victim}?force=true`);
      const after = await everything();
      // An environment cannot be deleted while a resource elsewhere mounts something in it (D-133).
      expect([204, 409]).toContain(status);
      if (status === 409) {
        expect(after).toEqual(before);
        expect(mountsFromOutside(victim, before)).not.toEqual([]);
      } else {
        await expectClean(victim, tenants, identities, before, after);
      }

      // Mounts of each other's resources prevent the deletion of both.
      const containers = [...after.values()].filter(({ resource_type: type }) => type.endsWith('::Container'));
      await Promise.all(containers.map(({ id }) => root.delete(`/root/containers/${id}`)));
      for (const { org } of tenants) await root.delete(`${org}?force=true`);
      await Promise.all(identities.map((id) => root.delete(`/root/resources/${id}`)));
    }),
    { numRuns: 10 },
  );
});
