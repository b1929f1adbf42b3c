import { expect, it } from 'vitest';
import { propertyWords } from './property-words.ts';

it.each([
  ['implementation_type', 'Target type'],
  ['health_checks', 'Health checks'],
  ['name', 'Name'],
])('says %s as people do: %s', (name, words) => expect(propertyWords(name)).toBe(words));
