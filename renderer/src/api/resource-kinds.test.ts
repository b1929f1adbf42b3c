import { expect, it } from 'vitest';
import { resourceTypes } from '../../../server/model/registry.ts';
import { createPath, kindOf, kindOfWord, kindsBelow, parentWords } from './resource-kinds.ts';

it('knows of every type of the registry what it is called and where it can stand', () => {
  for (const { word, name, parents, subTypes } of resourceTypes) {
    expect(kindOfWord(word).word).toBe(word);
    expect([...parentWords[word]].sort()).toEqual([...parents].sort());
    for (const type of [name, ...Object.keys(subTypes ?? {})])
      expect(kindOf({ resource_type: type }).word, type).toBe(word);
  }
});

it('says what can be created in a place, and where it is sent', () => {
  expect(kindsBelow('apis').map(({ word }) => word)).toEqual(['apiendpoints']);
  expect(kindsBelow('lambdas')).toEqual([]);
  const org = { word: 'orgs', id: '1', fqon: 'a.b' } as const;
  expect(createPath(org, 'orgs')).toBe('/a.b');
  expect(createPath(org, 'users')).toBe('/a.b/users');
  expect(createPath({ word: 'apis', id: '2', fqon: 'a' }, 'apiendpoints')).toBe('/a/apis/2/apiendpoints');
});
