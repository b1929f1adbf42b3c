import { z } from 'zod';
import { invalid, PlatformError } from '../errors.ts';
import { aProvider, formFacts, idOf, referenceFacts } from '../property-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import { owningOrganization } from '../rules/hierarchy.ts';
import { requireFreeRoute } from './endpoint-conflicts.ts';
import { isGatewayManager, providerIdOf, requireFit } from './provider-rules.ts';

export const API = 'Resource::Api';

/** D-058, D-059. */
export const api: ResourceType = {
  name: API,
  collection: 'apis',
  singular: 'api',
  summary: 'A named group under which endpoints are published; its name is the first segment of their URLs.',
  parents: ['environments'],
  unknownParentStatus: 422,
  properties: z.strictObject({
    provider: z
      .looseObject({
        id: idOf({ to: aProvider('GatewayManager'), onDelete: 'follows' }).optional(),
        locations: z
          .array(z.string().register(referenceFacts, { to: aProvider('Kong'), onDelete: 'follows' }))
          .optional(),
      })
      .optional()
      .register(formFacts, { order: 1 }),
  }),
  example: { name: 'site', properties: {} },
  serverSet: [],
  nameRule: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    maxLength: 255,
    hint: 'begin with a letter or digit and consist of letters, digits, dots, underscores and hyphens',
  },

  validate(draft, context) {
    const { view, parent, previous } = context;
    if (draft.name === 'results') throw invalid('/name', "'results' is reserved: it is a path of the gateway");
    const id = providerIdOf(draft);
    // A provider that fitted when it was chosen stays (D-096).
    if (id !== undefined && !(previous && providerIdOf(previous) === id)) {
      const provider = view.find(id);
      if (!provider || !isGatewayManager(provider.type))
        throw new PlatformError('not_found', `gateway manager ${id} not found`);
      requireFit(view, provider, parent);
    }
    if (previous && previous.name !== draft.name) {
      for (const endpoint of view.children(draft.id, 'apiendpoints')) {
        const api = { name: draft.name, orgId: owningOrganization(view, parent).id };
        requireFreeRoute(context, api, endpoint, endpoint.properties);
      }
    }
    return { properties: draft.properties };
  },
};
