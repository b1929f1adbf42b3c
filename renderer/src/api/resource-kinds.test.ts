import { expect, it } from 'vitest';
import { resourceTypes } from '../../../server/model/registry.ts';
import { createPath, kindOf, kindOfWord, kindsBelow } from './resource-kinds.ts';

it('knows every type of the registry by its word and its names', () => {
  for (const { collection, name, subTypes } of resourceTypes) {
    expect(kindOfWord(collection).collection).toBe(collection);
    for (const type of [name, ...(subTypes ?? [])])
      expect(kindOf({ resource_type: type }).collection, type).toBe(collection);
  }
});

it('says what can be created in a place, and where it is sent', () => {
  expect(kindOfWord('apiendpoints')).toMatchObject({ title: 'endpoint', plural: 'Endpoints', parents: ['apis'] });
  expect(kindsBelow('apis').map(({ collection }) => collection)).toEqual(['apiendpoints']);
  expect(kindsBelow('lambdas')).toEqual([]);
  const org = { word: 'orgs', id: '1', fqon: 'a.b' } as const;
  expect(createPath(org, 'orgs')).toBe('/a.b');
  expect(createPath(org, 'users')).toBe('/a.b/users');
  expect(createPath({ word: 'apis', id: '2', fqon: 'a' }, 'apiendpoints')).toBe('/a/apis/2/apiendpoints');
});
