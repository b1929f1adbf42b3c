import type { ApiClient } from './platform.ts';
import type { Tenant } from './tenant.ts';

/** An exposed port mapping. */
export const web = { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: true };

/**
 * Creates containers, by default in the environment of a place, and tries to.
 *
 * @param fixture client and place, called at each use, because the platform starts after the tests are collected
 */
export function containersOf(fixture: () => { root: ApiClient; tenant: Tenant }) {
  const required = () => ({ container_type: 'DOCKER', image: 'nginx:1', provider: { id: fixture().tenant.docker } });
  const bodyOf = (name: string, properties: object) => ({ name, properties: { ...required(), ...properties } });
  const containers = () => `${fixture().tenant.environment}/containers`;
  return {
    required,
    create: (name: string, properties: object = {}, at = containers()) =>
      fixture().root.create(at, bodyOf(name, properties)),
    refused: (properties: object) => fixture().root.post(containers(), bodyOf('refused', properties)),
  };
}
