import { z } from 'zod';
import { invalid } from '../errors.ts';
import { formFacts } from '../form-facts.ts';
import { type Json, type JsonObject, memberOf } from '../json.ts';
import type { ResourceType } from '../resource-type.ts';
import { secretFacts } from '../secret-facts.ts';
import { dnsName, runBy, typed } from './schema-parts.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    secrets: true;
  }
}

export const SECRET = 'Resource::Secret';

const properties = z.strictObject({
  provider: runBy('CaaS').register(formFacts, { order: 1 }),
  items: z
    .array(
      z.strictObject({
        key: z.string().min(1),
        value: z
          .string()
          .describe('Base64, or plain text as is; without it a stored value is kept')
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
  noun: 'secret',
  summary: 'Values that containers and lambdas mount and nobody reads back.',
  parents: ['environments'],
  verbs: ['import'],
  properties,
  first: { items: [{ key: '', value: '' }] },
  serverSet: [],
  // So a client that compares records cannot put one item's value under another's key, and no value can be read.
  patchedAsShown: ['items'],
  nameRule: dnsName,
  replaceable: true,

  admit(draft, { previous }) {
    const sent = typed(properties, draft);
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
    // A value is there to be replaced although nobody sees it.
    return operation.op === 'replace' && ITEM_VALUE.test(operation.path) ? { ...operation, op: 'add' } : operation;
  },
};
