import { z } from 'zod';
import { formFacts } from '../server/model/form-facts.ts';
import { idOf } from '../server/model/reference-facts.ts';
import type { ResourceType } from '../server/model/resource-type.ts';
import { secretFacts } from '../server/model/secret-facts.ts';
import type { TypeWord } from '../server/model/type-words.ts';

/** For tests: a type that the platform does not have. Its word is not declared, as other tests want one of each that is. */
export const gadget: ResourceType = {
  name: 'Resource::Gadget',
  id: '0d9f2b9c-2b1e-4a55-9a35-0a1f5f0c7a11',
  word: 'gadgets' as TypeWord,
  noun: 'gadget',
  summary: 'A thing on a desk.',
  parents: ['environments'],
  properties: z.strictObject({
    colour: z.string().register(formFacts, { label: 'Paint', order: 1 }),
    lambda: idOf({ to: { word: 'lambdas', right: 'view' }, whenGone: 'unmounted', missing: 400 }).optional(),
    pin: z.string().optional().register(secretFacts, { shown: 'never' }),
  }),
  first: { colour: 'green' },
  serverSet: [],
};
