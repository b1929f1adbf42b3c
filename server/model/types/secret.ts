import { z } from 'zod';
import { invalid } from '../errors.ts';
import { type Json, type JsonObject, memberOf } from '../json.ts';
import { formFacts, secretFacts } from '../property-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import { dnsName, EXAMPLE_ID, runBy, typed } from './schema-parts.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    secrets: true;
  }
}

export const SECRET = 'Resource::Secret';

export const secretProperties = z.strictObject({
  provider: runBy('CaaS').register(formFacts, { order: 1 }),
  items: z
    .array(
      z.strictObject({
        key: z.string().min(1).describe('Unique in the secret'),
        value: z
          .string()
          .describe('Plain text or base64. Leave it out to keep the stored value of this key')
          .register(secretFacts, { shown: 'never' })
          .optional(),
      }),
    )
    .register(formFacts, { order: 2 }),
});

const ITEM_VALUE = /^\/properties\/items\/\d+\/value$/;

function itemsOf(stored: JsonObject | undefined): Json[] {
  const items = stored?.items;
  return Array.isArray(items) ? items : [];
}

/** D-078. */
export const secret: ResourceType = {
  name: SECRET,
  word: 'secrets',
  singular: 'secret',
  summary: 'Values that containers and lambdas mount and that cannot be read back.',
  parents: ['environments'],
  verbs: ['import'],
  properties: secretProperties,
  first: { items: [{ key: '', value: '' }] },
  example: {
    name: 'crm',
    properties: { provider: { id: EXAMPLE_ID }, items: [{ key: 'token', value: 'choose-a-value' }] },
  },
  serverSet: [],
  // Clients that compare records can therefore not assign the value of one item to the key of another one, and cannot read a value.
  patchedAsShown: ['items'],
  nameRule: dnsName,
  replaceable: true,

  validate(draft, { previous }) {
    const sent = typed(secretProperties, draft);
    const kept = new Map(itemsOf(previous?.properties).map((item) => [memberOf(item, 'key'), memberOf(item, 'value')]));
    const keys = new Set<string>();
    const items = sent.items.map((item, index) => {
      const at = `/properties/items/${index}`;
      if (keys.has(item.key)) throw invalid(`${at}/key`, 'is used by another item');
      keys.add(item.key);
      const value = item.value ?? kept.get(item.key);
      if (value === undefined) throw invalid(`${at}/value`, 'is required: no value is stored for this key');
      return { key: item.key, value };
    });
    return { properties: { ...draft.properties, items } };
  },

  rewrite(operation) {
    // Values cannot be read, but they can be replaced.
    return operation.op === 'replace' && ITEM_VALUE.test(operation.path) ? { ...operation, op: 'add' } : operation;
  },
};
