import type { Place } from '../../../e2e/place.ts';
import type { Voice } from '../../../e2e/platform.ts';

/** A port mapping with an address. */
export const web = { protocol: 'tcp', name: 'web', container_port: 80, expose_endpoint: true };

/**
 * For tests: makes containers, in the environment of a place unless another is said, and tries to.
 *
 * @param scene who does it and where, asked for at each use, as the platform starts after the tests are collected
 */
export function containersOf(scene: () => { root: Voice; place: Place }) {
  const required = () => ({ container_type: 'DOCKER', image: 'nginx:1', provider: { id: scene().place.docker } });
  const bodyOf = (name: string, properties: object) => ({ name, properties: { ...required(), ...properties } });
  const containers = () => `${scene().place.environment}/containers`;
  return {
    required,
    create: (name: string, properties: object = {}, at = containers()) =>
      scene().root.create(at, bodyOf(name, properties)),
    refused: (properties: object) => scene().root.post(containers(), bodyOf('refused', properties)),
  };
}
