import { expect, it } from 'vitest';
import { z } from 'zod';
import { resourceTypes, typeOfWord } from '../../../../server/model/registry.ts';
import { lintFor } from './json-lint.ts';
import type { Schema } from './use-type-schema.ts';

// As the server's document has it (server/api/openapi/json-schema.ts).
const schemaOf = (type: { properties: z.ZodType }) =>
  z.toJSONSchema(type.properties, { io: 'input', unrepresentable: 'any' }) as Schema; // a part of it, see Schema
const marked = (text: string) =>
  lintFor(schemaOf(typeOfWord('lambdas')))(text).map(({ from, to, message }) => [text.slice(from, to), message]);

it('can read the schema of every type', () => {
  for (const type of resourceTypes) {
    expect(lintFor(schemaOf(type))('{}').length, type.collection).toBeGreaterThan(0);
  }
});

it('marks the value that is wrong, and the name that there is not', () => {
  const properties = {
    provider: { id: '2ad1f4ce-7d1e-4bc9-a9bd-4de30a63521d' },
    runtime: 'nodejs',
    code_type: 'inline',
    handler: 'run',
  };
  const text = (more: object) => JSON.stringify({ name: 'a', properties: { ...properties, ...more } }, null, 2);
  expect(marked(text({}))).toEqual([]);
  expect(marked(text({ timeout: 'long' }))).toEqual([['"long"', expect.stringMatching(/^\/properties\/timeout: /)]]);
  expect(marked(text({ timeoutt: 3 }))).toEqual([['"timeoutt"', '/properties/timeoutt: Unknown property']]);
  expect(marked(text({ env: { A: 1 } }))).toEqual([['1', expect.stringMatching(/^\/properties\/env\/A: /)]]);
});

it('leaves invalid JSON to the editor', () => {
  expect(marked('{')).toEqual([]);
});
