import type { ApiClient } from './platform.ts';
import type { Body } from './tenant.ts';

export const PROVIDER = 'Platform::Configuration::Provider';
export const KONG = `${PROVIDER}::Kong`;

export const namesOf = (list: Body) => list.map(({ name }: { name: string }) => name);

/**
 * Creates, reads and patches providers of the organization acme.
 *
 * @param root client, called at each use, because the platform starts after the tests are collected
 */
export function providersOf(root: () => ApiClient) {
  let createdCount = 0;
  const bodyOf = (properties: object = {}, more: object = {}) => ({
    name: `provider-${createdCount++}`,
    resource_type: KONG,
    properties,
    ...more,
  });
  const create = (properties: object = {}, more: object = {}): Promise<Body> =>
    root().create('/acme/providers', bodyOf(properties, more));
  const pathOf = ({ id }: Body) => `/acme/providers/${id}`;
  const read = async (provider: Body, query = ''): Promise<Body> => (await root().get(pathOf(provider) + query)).body;
  const patch = (provider: Body, ...operations: object[]) => root().patch(pathOf(provider), operations);
  return { bodyOf, create, pathOf, read, patch };
}
