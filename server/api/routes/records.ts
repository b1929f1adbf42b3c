import { z } from 'zod';
import { envelopeSchema } from '../../model/envelope.ts';
import { parsePatch } from '../../model/patch/patch.ts';
import { resourceTypes } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { link, PATCH_TYPES, patchDocument, provenance } from '../schemas/forms.ts';
import { id, named } from '../schemas/parts.ts';
import { flag, otherParameters, text, textList } from './parameter.ts';
import { ok, readJson } from './route.ts';
import { namingOf } from './type-naming.ts';

/** A record of any type in a response (D-022); the document adds the parts of each type from the registry (`typeSchemas`). */
const record = z.object({
  id,
  name: z.string(),
  description: z.string().optional(),
  resource_type: z.string().describe('Full type name'),
  resource_state: z.string().describe('Full name of the state, e.g. ...::State::Active'),
  org: link,
  owner: link,
  ...provenance,
  properties: z.looseObject({}),
  variables: z.record(z.string(), z.string()).optional(),
  tags: z.array(z.string()).optional(),
});

export const anyRecord = named('Resource', record.clone());
/** A record in a list with `compact` (D-186). */
const compactRecord = named(
  'CompactResource',
  record.omit({ org: true, owner: true, created: true, modified: true }).describe('A record of a list with `compact`'),
);
const requested = envelopeSchema
  .extend({ properties: z.looseObject({}).optional() })
  .describe(
    'Other members, such as those that only the server sets, are ignored. A member that is null counts as absent.',
  );
const anyRequest = named('ResourceRequest', requested.clone());

const records = new Map(
  resourceTypes.map((type) => {
    const { schema, requestSchema } = namingOf(type);
    return [type, [named(schema, record.clone()), named(requestSchema, requested.clone())]] as const;
  }),
);

export function recordOf(type: ResourceType): typeof record {
  return records.get(type)?.[0] ?? anyRecord;
}

/** Lists of resources (D-186, D-187). */
export const listQuery = {
  expand: flag('Return whole records instead of links'),
  compact: flag('Return records without org, owner, created and modified'),
  filter: {
    ...otherParameters('Any other parameter filters by equality with a property, or with name, description or id', [
      'embed',
      'showcredentials',
    ]),
    names: ['name', 'description', 'id'],
  },
};

export function listAnswer(schema: z.ZodType) {
  const records = [schema, compactRecord];
  return ok(z.array(z.union([link, ...records])), 'Oldest first; links unless `expand` or `compact` is true');
}

export function changedRecord(schema: z.ZodType) {
  return ok(schema, 'The updated record');
}

/** A change that every record accepts: `add` also replaces (D-095). */
const examplePatch = [{ op: 'add', path: '/description', value: 'Changed with a JSON Patch' }];
export const patch = { ...readJson(patchDocument, parsePatch, examplePatch), mediaTypes: PATCH_TYPES } as const;

/** A whole record. Its type validates it when it is added to the world. */
export function wholeRecord(type?: ResourceType) {
  const schema = (type && records.get(type)?.[1]) ?? anyRequest;
  return readJson(schema, (input) => input, type?.example ?? { name: 'example' });
}

/** Effects of a deletion on other resources (D-034, D-055). */
export const removal = {
  force: flag('Also delete everything below the resource'),
  deleteContainers: flag("Delete the provider's containers, but nothing else below it"),
};
/** D-066. */
export const showCredentials = flag('Return `config.auth.credentials` to callers who can update the provider');
/** Single reads (D-012, D-037). */
export const readQuery = {
  expand: flag('Has no effect: the response is always the whole record'),
  embed: textList('Properties to replace with whole records (the description lists them)'),
};
/** D-065, D-015. */
export const providerType = text('Suffix of a provider type, its full name or its id', {
  examples: ['CaaS', 'Lambda', 'GatewayManager'],
});
export const ruleType = text('Kind of rule', { enum: ['Event', 'Limit'] });
