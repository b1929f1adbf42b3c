import { z } from 'zod';
import { parsePatch } from '../model/patch.ts';
import { resourceTypes } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import { hiddenProperties } from '../model/secrets.ts';
import { link, PATCH_TYPES, patchDocument, provenance } from './forms.ts';
import { named } from './named.ts';
import { flag, others, text, words } from './parameter.ts';
import { id } from './parts.ts';
import { created, ok, readJson } from './row.ts';
import { namingOf } from './type-naming.ts';

/** A record as every type has it; what its type adds the document takes from the registry (`typeSchemas`). */
const record = z.looseObject({
  id,
  name: z.string(),
  org: link.optional(),
  owner: link.optional(),
  created: provenance.created.optional(),
  modified: provenance.modified.optional(),
  properties: z.looseObject({}),
});

/** Of any type. */
export const anyRecord = named('Record', record.clone());

const records = new Map(resourceTypes.map((type) => [type, named(namingOf(type).schema, record.clone())]));

/** The record of one type. */
export function recordOf(type: ResourceType): z.ZodType {
  return records.get(type) ?? anyRecord;
}

/** The record of a type that is to be made: what nobody reads back may be required of it (D-029). */
export function newRecordOf(type: ResourceType): z.ZodType {
  const { error } = type.properties.safeParse({});
  const needed = error?.issues.map(({ path: [name] }) => name) ?? [];
  const hidden = hiddenProperties(type).filter((name) => needed.includes(name));
  if (hidden.length === 0) return recordOf(type);
  const members = z.looseObject(Object.fromEntries(hidden.map((name) => [name, z.unknown()])));
  return z.intersection(recordOf(type), z.looseObject({ properties: members }));
}

/** Lists of resources (D-186, D-187). */
export const listQuery = {
  expand: flag('Whole records instead of links'),
  compact: flag('Records without org, owner, created and modified'),
  filter: others('Any other parameter selects by equality with a property, or with name, description or id', [
    'embed',
    'showcredentials',
  ]),
};

/** How a list of them is answered. */
export function listAnswer(schema: z.ZodType) {
  return ok(z.array(z.union([link, schema])), 'Oldest first; links unless `expand` or `compact` is true');
}

/** A record after it was changed. */
export function changedRecord(schema: z.ZodType) {
  return ok(schema, 'The record after the change');
}

/** A record that was made. */
export function newRecord(schema: z.ZodType) {
  return created(schema);
}

/** A JSON Patch. */
export const patch = { ...readJson(patchDocument, parsePatch), mediaTypes: PATCH_TYPES } as const;

/** A whole record: by its type, as whatever else writes one, it is looked at where it becomes part of the world. */
export function whole(schema: z.ZodType) {
  return readJson(schema, (sent) => sent);
}

/** What a deletion takes with it (D-034, D-055). */
export const removal = {
  force: flag('Delete what stands below it, too'),
  deleteContainers: flag("Delete the provider's containers, and nothing else below it"),
};
/** D-066. */
export const showCredentials = flag('Show `config.auth.credentials` to those who may change the provider');
/** D-037. */
export const embed = words('Properties to fill with whole records (which ones: see the description)');
/** D-065, D-015. */
export const providerType = text('A trailing part of a provider type, its full name or its id', {
  examples: ['CaaS', 'Lambda', 'GatewayManager'],
});
export const ruleType = text('Kind of rule', { enum: ['Event', 'Limit'] });
