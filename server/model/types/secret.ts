import { z } from 'zod';
import { decodeText } from '../decode-text.ts';
import { invalid } from '../errors.ts';
import { elementsOf, isJsonObject, memberOf } from '../json.ts';
import { formFacts, secretFacts } from '../property-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import { dnsName, EXAMPLE_ID, runBy, typed } from './schema-parts.ts';

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
          .register(secretFacts, { visibility: 'never' })
          .optional(),
        encoding: z
          .enum(['base64', 'text'])
          .optional()
          .describe('Encoding of the value; without it, base64 of text and base64 that ends in = is decoded'),
      }),
    )
    .register(formFacts, { order: 2 }),
});

const ITEM_VALUE = /^\/properties\/items\/\d+\/value$/;

type SecretItem = z.output<typeof secretProperties>['items'][number];

const isBase64 = (text: string): boolean => Buffer.from(text, 'base64').toString('base64') === text;

/** The bytes of a value; none for an item that does not exist any more. Padding shows base64 also where its bytes are no text (D-078). */
export function secretBytes({ value = '', encoding }: Partial<SecretItem> = {}): Buffer {
  if (encoding === 'text') return Buffer.from(value);
  if (encoding === 'base64' || (value.endsWith('=') && isBase64(value))) return Buffer.from(value, 'base64');
  return Buffer.from(decodeText(value));
}

/** The value for an environment variable, which is text: bytes that are none stay base64. */
export function secretText({ value = '', encoding }: Partial<SecretItem> = {}): string {
  return encoding === 'text' ? value : decodeText(value);
}

/** D-078. */
export const secret: ResourceType = {
  name: SECRET,
  collection: 'secrets',
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
    const input = typed(secretProperties, draft);
    const storedItems = elementsOf(previous?.properties.items);
    const storedItemsByKey = new Map(storedItems.map((item) => [memberOf(item, 'key'), item]));
    const keys = new Set<string>();
    const items = input.items.map((item, index) => {
      const at = `/properties/items/${index}`;
      if (keys.has(item.key)) throw invalid(`${at}/key`, 'is used by another item');
      keys.add(item.key);
      const stored = storedItemsByKey.get(item.key);
      const value = item.value ?? memberOf(stored, 'value');
      if (value === undefined) throw invalid(`${at}/value`, 'is required: no value is stored for this key');
      const encoding = item.encoding ?? (item.value === undefined ? memberOf(stored, 'encoding') : undefined);
      if (encoding === 'base64' && !isBase64(String(value)))
        throw invalid(`${at}/value`, 'must be base64, because the encoding says so');
      return { key: item.key, value, ...(encoding !== undefined && { encoding }) };
    });
    return { properties: { ...draft.properties, items } };
  },

  toView({ properties }) {
    const visibleItems = elementsOf(properties.items).map((item) => {
      const { encoding: _, ...rest } = isJsonObject(item) ? item : {};
      return rest;
    });
    return { ...properties, items: visibleItems };
  },

  rewrite(operation) {
    // Values cannot be read, but they can be replaced.
    return operation.op === 'replace' && ITEM_VALUE.test(operation.path) ? { ...operation, op: 'add' } : operation;
  },
};
