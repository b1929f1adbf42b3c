import { z } from 'zod';
import { PlatformError } from '../errors.ts';
import { idIn, isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import type { ResourceType } from '../resource-type.ts';
import { concreteTypes, isKindOf, PROVIDER, typeIdOf } from '../type-names.ts';
import type { WorldView } from '../world-view.ts';
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
  environment_types: z
    .array(z.enum(['development', 'test', 'production']))
    .optional()
    .describe('Which environments it serves; all unless some are chosen'),
  linked_providers: z
    .array(
      z.looseObject({
        id: uuid,
        name: z.string().optional().describe('Filled in by the server'),
        location: z.string().optional(),
        type: z.string().optional().describe('Filled in by the server'),
        typeId: z.string().optional().describe('Filled in by the server'),
      }),
    )
    .optional(),
  services: z.array(z.looseObject({})).optional().describe('Stored only'),
  environments: z.array(z.unknown()).optional().describe('Stored only'),
  locations: z.array(z.unknown()).optional().describe('Stored only'),
  data: z.string().optional().describe('Stored only'),
  schema: z.unknown().optional().describe('Stored only'),
});

function credentialsOf(properties: JsonObject): Json | undefined {
  return memberOf(memberOf(properties.config, 'auth'), 'credentials');
}

function withCredentials(properties: JsonObject, credentials: Json): JsonObject {
  const config = isJsonObject(properties.config) ? properties.config : {};
  const auth = isJsonObject(config.auth) ? config.auth : {};
  return { ...properties, config: { ...config, auth: { ...auth, credentials } } };
}

/** The links as sent, without what every read adds to them; throws 422 when one names no provider. */
function withStoredLinks(sent: JsonObject, view: WorldView): JsonObject {
  const links = sent.linked_providers;
  if (!Array.isArray(links)) return sent;
  const stored = links.filter(isJsonObject).map(({ type: _type, typeId: _id, name, ...link }, index): JsonObject => {
    const linked = view.find(idIn(link) ?? '');
    if (linked && isKindOf(linked.type, PROVIDER)) {
      return name === undefined || name === linked.name ? link : { ...link, name };
    }
    const pointer = `/properties/linked_providers/${index}/id`;
    const message = `provider ${link.id} not found`;
    throw new PlatformError(422, `${pointer}: ${message}`, { details: [{ pointer, message }] });
  });
  return { ...sent, linked_providers: stored };
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
  unreadable: ['config.auth.credentials'],
  subTypes: Object.fromEntries(concreteTypes(PROVIDER).map((name) => [name, typeIdOf(name)])),
  patchedAsShown: ['linked_providers'],
  replaceCreates: ['/name', '/properties/environment_types', '/properties/linked_providers'],

  admit(draft, { view, previous }) {
    const properties = withStoredLinks(draft.properties, view);
    const kept = previous && credentialsOf(previous.properties);
    if (kept === undefined || credentialsOf(properties) !== MASK) return { properties };
    return { properties: withCredentials(properties, kept) };
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
