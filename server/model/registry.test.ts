import { expect, test } from 'vitest';
import { z } from 'zod';
import { resourceTypes, typeOf, typeOfWord, typeWords } from './registry.ts';
import { typeIdOf } from './type-names.ts';

test('every type word has a type, and no two types share a word, noun, name or id', () => {
  expect(resourceTypes.map(({ collection }) => collection).sort()).toEqual([...typeWords].sort());
  for (const collection of typeWords) expect(typeOfWord(collection).collection).toBe(collection);
  for (const member of ['collection', 'singular', 'name'] as const) {
    expect(new Set(resourceTypes.map((type) => type[member])).size).toBe(resourceTypes.length);
  }
  expect(new Set(resourceTypes.map(({ name }) => typeIdOf(name))).size).toBe(resourceTypes.length);
});

test('a noun is the singular of its word, so that policies can speak of both (D-123)', () => {
  for (const { singular, collection } of resourceTypes)
    expect(singular.replace(/y$/, 'ie')).toBe(collection.slice(0, -1));
});

test.each(resourceTypes.map((type) => [type.collection, type] as const))('%s is a complete row', (_, type) => {
  for (const parent of type.parents) expect(typeWords).toContain(parent);
  for (const name of type.subTypes ?? []) {
    expect(typeIdOf(name)).toMatch(/^[0-9a-f-]{36}$/);
    expect(typeOf({ type: name })).toBe(type);
  }
  for (const io of ['input', 'output'] as const) {
    expect(z.toJSONSchema(type.properties, { io })).toMatchObject({ type: 'object' });
  }
});

test('server-set properties are in no schema, so that D-028 and D-033 do not contradict each other', () => {
  for (const { properties, serverSet } of resourceTypes) {
    const members = Object.keys(z.toJSONSchema(properties).properties ?? {});
    expect(members.filter((member) => [...serverSet, 'parent'].includes(member))).toEqual([]);
  }
});
