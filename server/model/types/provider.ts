import { z } from 'zod';
import { idIn, isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import { aProvider, formFacts, idOf, MASK, referenceFacts, secretFacts, storedOnly } from '../property-facts.ts';
import type { WorldView } from '../record.ts';
import type { ResourceType } from '../resource-type.ts';
import { replaceAt } from '../rules/property-places.ts';
import { concreteTypes, PROVIDER, typeIdOf } from '../type-names.ts';
import { isContainerEngine, linkedProviderIds } from './provider-rules.ts';
import { stringMap } from './schema-parts.ts';

const containerSpec = storedOnly({
  properties: storedOnly({
    provider: storedOnly({
      id: z.string().register(referenceFacts, { to: aProvider(), onDelete: 'keeps', isStoredOnly: true }).optional(),
    }).optional(),
  }).optional(),
});

const filledIn = () => z.string().optional().describe('Set by the server').register(formFacts, { isFilledIn: true });

const properties = z.looseObject({
  config: z
    .looseObject({
      env: z
        .looseObject({
          public: stringMap.optional(),
          private: stringMap.optional().register(formFacts, { kind: 'concealed' }),
        })
        .optional(),
      networks: z.array(z.looseObject({ name: z.string() })).optional(),
      external_protocol: z.string().optional(),
      auth: z
        .looseObject({ credentials: z.unknown().register(secretFacts, { visibility: 'masked' }).optional() })
        .optional(),
    })
    .optional()
    .register(formFacts, { order: 3 }),
  environment_types: z
    .array(z.enum(['development', 'test', 'production']))
    .optional()
    .describe('Environment types that the provider serves; all if none is selected')
    .register(formFacts, { order: 1 }),
  linked_providers: z
    .array(
      z.looseObject({
        id: idOf({ to: aProvider(), onDelete: 'forgets', missing: 422 }),
        name: filledIn(),
        location: z.string().optional(),
        type: filledIn(),
        typeId: filledIn(),
      }),
    )
    .optional()
    .register(formFacts, { order: 2 }),
  services: z
    .array(z.looseObject({ container_spec: containerSpec.optional() }))
    .optional()
    .describe('Stored only'),
  environments: z.array(z.unknown()).optional().describe('Stored only'),
  locations: z.array(z.unknown()).optional().describe('Stored only'),
  data: z.string().optional().describe('Stored only'),
  schema: z.unknown().optional().describe('Stored only'),
});

const CREDENTIALS = ['config', 'auth', 'credentials'];

function credentialsOf(properties: JsonObject): Json | undefined {
  return CREDENTIALS.reduce<Json | undefined>(memberOf, properties);
}

function withStoredLinks(input: JsonObject, view: WorldView): JsonObject {
  const links = input.linked_providers;
  if (!Array.isArray(links)) return input;
  const stored = links.filter(isJsonObject).map(({ type: _type, typeId: _id, name, ...link }): JsonObject => {
    const linked = view.find(idIn(link) ?? '');
    return name === undefined || name === linked?.name ? link : { ...link, name };
  });
  return { ...input, linked_providers: stored };
}

/** D-063..D-069, D-082. */
export const provider: ResourceType = {
  name: PROVIDER,
  collection: 'providers',
  singular: 'provider',
  summary:
    'A service that runs workloads or supports others: a container engine, a lambda runtime, a gateway, logging ...',
  parents: ['orgs', 'workspaces', 'environments'],
  properties,
  example: {
    name: 'logs',
    resource_type: 'Platform::Configuration::Provider::Logging',
    properties: { environment_types: ['test'], level: 'debug' },
  },
  serverSet: [],
  subTypes: concreteTypes(PROVIDER),
  patchedAsShown: ['linked_providers'],
  replaceCreates: ['/name', '/properties/environment_types', '/properties/linked_providers'],

  // The platform connects to the engine with the keys of the user who runs it.
  rootOnly: (type) =>
    isContainerEngine(type)
      ? [
          ['config', 'url'],
          ['config', 'tls'],
        ]
      : [],

  validate(draft, { view, previous }) {
    const properties = withStoredLinks(draft.properties, view);
    const storedCredentials = previous && credentialsOf(previous.properties);
    if (storedCredentials === undefined || credentialsOf(properties) !== MASK) return { properties };
    return { properties: replaceAt(properties, CREDENTIALS, () => storedCredentials) };
  },

  toView(record, { view, fullName }) {
    const links = record.properties.linked_providers;
    if (!Array.isArray(links)) return record.properties;
    const ids = linkedProviderIds(record);
    const linked = links.map((link, index) => {
      const target = view.find(ids[index] ?? '');
      if (!target || !isJsonObject(link)) return link;
      return { name: target.name, ...link, type: fullName(target.type), typeId: typeIdOf(target.type) };
    });
    return { ...record.properties, linked_providers: linked };
  },
};
