import { expect, test } from 'vitest';
import { z } from 'zod';
import { refusalOf } from '../../testing/refusal.ts';
import { pointerTo } from '../patch/pointer.ts';
import { parseWith } from './validate.ts';

test.each([
  [z.string(), undefined, 'is required'],
  [z.enum(['a', 'b']), undefined, 'is required'],
  [z.union([z.string(), z.number()]), undefined, 'is required'],
  [z.string(), 1, 'must be a string'],
  [z.number(), 'x', 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.boolean(), 'x', 'must be true or false'],
  [z.array(z.string()), 'x', 'must be an array'],
  [z.strictObject({}), [], 'must be an object'],
  [z.record(z.string(), z.string()), [], 'must be an object'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
  [z.string().min(1), '', 'must not be empty'],
  [z.array(z.string()).min(1), [], 'must not be empty'],
  [z.string().min(3), 'a', 'must be at least 3 characters'],
  [z.string().max(1), 'ab', 'must be at most 1 characters'],
  [z.number().gt(0), 0, 'must be greater than 0'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.guid(), 'x', 'must be a UUID'],
  [z.url(), 'x', 'must be a URL'],
  [z.iso.datetime(), 'x', 'must be an ISO 8601 time'],
  [z.record(z.string().regex(/^[A-Z]$/, 'is no capital'), z.string()), { a: 'x' }, 'is no capital'],
])('a violation reads as a sentence', (schema, value, message) => {
  expect(refusalOf(() => parseWith(schema, value, '/x')).message).toContain(`: ${message}`);
});

test('an unknown member is named by its own pointer, escaped', () => {
  const refusal = refusalOf(() => parseWith(z.strictObject({}), { 'a/b~c': 1 }, '/properties'));
  expect(refusal).toMatchObject({ status: 400, pointer: '/properties/a~1b~0c' });
  expect(pointerTo(['a', 0])).toBe('/a/0');
});
