import { z } from 'zod';
import { formFacts, idOf, secretFacts } from '../model/property-facts.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { TypeWord } from '../model/type-words.ts';

/**
 * A resource type for tests that the platform does not have. Its plural name is not declared, because other tests need one resource of each
 * declared type.
 */
export const gadget: ResourceType = {
  name: 'Resource::Gadget',
  id: '0d9f2b9c-2b1e-4a55-9a35-0a1f5f0c7a11',
  collection: 'gadgets' as TypeWord,
  singular: 'gadget',
  summary: 'A thing on a desk.',
  parents: ['environments'],
  properties: z.strictObject({
    colour: z.string().register(formFacts, { label: 'Paint', order: 1 }),
    lambda: idOf({ to: { word: 'lambdas', right: 'view' }, onDelete: 'unmounted', missing: 400 }).optional(),
    pin: z.string().optional().register(secretFacts, { visibility: 'never' }),
  }),
  example: { name: 'lamp', properties: { colour: 'green' } },
  first: { colour: 'green' },
  serverSet: [],
};
