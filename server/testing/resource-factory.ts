import type { ApiClient } from './platform.ts';
import { type Body, containerBody, lambdaBody, type Tenant } from './tenant.ts';

/** Creates resources with unique names in places; each function returns the record. */
export type ResourceFactory = ReturnType<typeof resourceFactoryFor>;

/** A factory that acts as root. */
export function resourceFactoryFor(root: ApiClient) {
  let createdCount = 0;
  const fresh = (singular: string) => `${singular}-${createdCount++}`;
  return {
    /** A unique name. */
    fresh,
    lambda: (tenant: Tenant, properties: object = {}, at = tenant.environment): Promise<Body> =>
      root.create(`${at}/lambdas`, lambdaBody(tenant, fresh('lambda'), properties)),
    container: (tenant: Tenant, properties: object = {}): Promise<Body> =>
      root.create(`${tenant.environment}/containers`, containerBody(tenant, fresh('container'), properties)),
    volume: (tenant: Tenant, properties: object = {}): Promise<Body> =>
      root.create(`${tenant.environment}/volumes`, {
        name: fresh('volume'),
        properties: { type: 'empty_dir', provider: { id: tenant.docker }, ...properties },
      }),
    secret: (tenant: Tenant, properties: object = {}): Promise<Body> =>
      root.create(`${tenant.environment}/secrets`, {
        name: fresh('secret'),
        properties: { provider: { id: tenant.docker }, items: [{ key: 'k', value: 'v' }], ...properties },
      }),
    /** @param kind the part after `Provider::` of its type, e.g. `CaaS::Docker` */
    provider: (tenant: Tenant, kind: string, properties: object = {}): Promise<Body> =>
      root.create(`${tenant.org}/providers`, {
        name: fresh('provider'),
        resource_type: `Platform::Configuration::Provider::${kind}`,
        properties,
      }),
    api: (tenant: Tenant, properties: object = {}): Promise<Body> =>
      root.create(`${tenant.environment}/apis`, { name: fresh('api'), properties }),
    /** An endpoint `/e` of an API with a lambda as target. */
    endpoint: (api: Body, lambda: Body, properties: object = {}): Promise<Body> =>
      root.create(`/root/apis/${api.id}/apiendpoints`, {
        name: 'e',
        properties: { resource: '/e', implementation_type: 'lambda', implementation_id: lambda.id, ...properties },
      }),
    policy: (node: string): Promise<Body> => root.create(`${node}/policies`, { name: fresh('policy') }),
    /** A rule of a separate policy of a node. */
    async rule(node: string, kind: 'Event' | 'Limit', properties: object): Promise<Body> {
      const policy = await this.policy(node);
      return root.create(`/root/policies/${policy.id}/rules`, {
        name: fresh('rule'),
        resource_type: `Platform::Resource::Rule::${kind}`,
        properties,
      });
    },
    user: (at: string): Promise<Body> =>
      root.create(`${at}/users`, { name: fresh('user'), properties: { password: 'x' } }),
    group: (at: string, users: readonly string[] = []): Promise<Body> =>
      root.create(`${at}/groups`, { name: fresh('group'), properties: { users } }),
  };
}
