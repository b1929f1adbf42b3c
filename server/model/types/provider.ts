import { z } from 'zod';
import { PlatformError } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import type { ResourceType } from '../resource-type.ts';
import { concreteTypes, isKindOf, PROVIDER, typeIdOf } from '../type-names.ts';
import { linkedProviderIds } from './provider-rules.ts';
import { stringMap, uuid } from './schema-parts.ts';

/** What stands in place of credentials; sent back, it keeps what is stored (D-066). */
const MASK = '****';

const properties = z.looseObject({
  config: z
    .looseObject({
      env: z.looseObject({ public: stringMap.optional(), private: stringMap.optional() }).optional(),
      networks: z.array(z.looseObject({ name: z.string() })).optional(),
      external_protocol: z.string().optional(),
      auth: z.looseObject({}).optional(),
    })
    .optional(),
  environment_types: z.array(z.enum(['development', 'test', 'production'])).optional(),
  linked_providers: z
    .array(
      z.looseObject({
        id: uuid,
        name: z.string().optional(),
        location: z.string().optional(),
        type: z.string().optional(),
        typeId: z.string().optional(),
      }),
    )
    .optional(),
  services: z.array(z.looseObject({})).optional(),
  environments: z.array(z.unknown()).optional(),
  locations: z.array(z.unknown()).optional(),
  data: z.string().optional(),
  schema: z.unknown().optional(),
});

function credentialsOf(properties: JsonObject): Json | undefined {
  return memberOf(memberOf(properties.config, 'auth'), 'credentials');
}

function withCredentials(properties: JsonObject, credentials: Json): JsonObject {
  const config = isJsonObject(properties.config) ? properties.config : {};
  const auth = isJsonObject(config.auth) ? config.auth : {};
  return { ...properties, config: { ...config, auth: { ...auth, credentials } } };
}

/** D-063..D-069, D-082. */
export const provider: ResourceType = {
  name: PROVIDER,
  id: typeIdOf(PROVIDER),
  word: 'providers',
  noun: 'provider',
  summary: 'Who runs workloads or serves others: a container engine, a lambda runtime, a gateway, logging ...',
  parents: ['orgs', 'workspaces', 'environments'],
  properties,
  serverSet: [],
  subTypes: Object.fromEntries(concreteTypes(PROVIDER).map((name) => [name, typeIdOf(name)])),
  replaceCreates: ['/name', '/properties/environment_types', '/properties/linked_providers'],

  admit(draft, { view, previous }) {
    linkedProviderIds(draft).forEach((id, index) => {
      const linked = view.find(id);
      if (linked && isKindOf(linked.type, PROVIDER)) return;
      const pointer = `/properties/linked_providers/${index}/id`;
      const message = `provider ${id} not found`;
      throw new PlatformError(422, `${pointer}: ${message}`, { details: [{ pointer, message }] });
    });
    const kept = previous && credentialsOf(previous.properties);
    if (kept === undefined || credentialsOf(draft.properties) !== MASK) return { properties: draft.properties };
    return { properties: withCredentials(draft.properties, kept) };
  },

  present(record, { view, fullName, showCredentials }) {
    const masked =
      showCredentials(record) || credentialsOf(record.properties) === undefined
        ? record.properties
        : withCredentials(record.properties, MASK);
    const links = masked.linked_providers;
    if (!Array.isArray(links)) return masked;
    const ids = linkedProviderIds(record);
    const linked = links.map((sent, index) => {
      const target = view.find(ids[index] ?? '');
      if (!target || !isJsonObject(sent)) return sent;
      return { name: target.name, ...sent, type: fullName(target.type), typeId: typeIdOf(target.type) };
    });
    return { ...masked, linked_providers: linked };
  },

  references: linkedProviderIds,

  forget(record, gone) {
    const ids = linkedProviderIds(record);
    const links = record.properties.linked_providers;
    if (!Array.isArray(links) || !ids.includes(gone)) return undefined;
    return { ...record.properties, linked_providers: links.filter((_, index) => ids[index] !== gone) };
  },
};
