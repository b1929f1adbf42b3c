import type { ResourceType } from '../resource-type.ts';
import { definition, liveProperties, mountedVolumes, toDefinition } from './container-definition.ts';
import { toPortMappingsView } from './port-mappings.ts';
import { embeddedProvider, endpointsOf, providerIdOf } from './provider-rules.ts';

export const CONTAINER = 'Resource::Container';

/** D-045..D-055. */
export const container: ResourceType = {
  ...definition,
  name: CONTAINER,
  collection: 'containers',
  singular: 'container',
  summary: 'Running instances of an image.',
  verbs: ['scale', 'migrate', 'promote', 'import'],
  first: {
    container_type: 'DOCKER',
    port_mappings: [{ name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true }],
  },
  serverSet: liveProperties,

  toView(record, context) {
    return {
      ...toDefinition(record, context),
      port_mappings: toPortMappingsView(record),
      external_id: `/namespaces/${record.parent}/deployments/${record.name}`,
    };
  },

  // Containers of all organizations (D-055).
  listedBelow: {
    providers: (above, view) =>
      view
        .referrers(above.id)
        .filter((container) => container.type === CONTAINER && providerIdOf(container) === above.id),
  },
  promoted: ['image', 'env', 'labels', 'port_mappings', 'volumes', 'secrets'],
  embed: { apiendpoints: endpointsOf, provider: embeddedProvider, volumes: mountedVolumes },
};
