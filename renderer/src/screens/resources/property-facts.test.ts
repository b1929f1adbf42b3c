import { expect, it } from 'vitest';
import { conditionOf, isLeading, labelOf, namedBy, sortedForForm, targetsOf, withMember } from './property-facts.ts';
import type { Schema } from './use-type-schema.ts';

it.each([
  ['implementation_type', { title: 'Target type' }, 'Target type'],
  ['health_checks', {}, 'Health checks'],
  ['firstName', {}, 'First name'],
  ['name', undefined, 'Name'],
])('says %s as people do', (name, schema, label) => expect(labelOf(name, schema)).toBe(label));

it('puts what leads first, in its order, and the rest unchanged', () => {
  const properties = { a: {}, b: { 'x-terrarium-form': { order: 2 } }, c: { 'x-terrarium-form': { order: 1 } }, d: {} };
  expect(sortedForForm(properties)).toEqual(['c', 'b', 'a', 'd']);
  expect(Object.values(properties).map(isLeading)).toEqual([false, true, true, false]);
});

it('hides properties that have no meaning with the others, and requires those that they need', () => {
  const url: Schema = { 'x-terrarium-form': { when: { property: 'code_type', is: ['package'], isRequired: true } } };
  expect(conditionOf(url, { code_type: 'Package' })).toBe('required');
  expect(conditionOf(url, { code_type: 'inline' })).toBe('unused');
  expect(conditionOf(url, {})).toBe('unused');
  const strict: Schema = { 'x-terrarium-form': { when: { property: 'resource_type', is: ['Limit'] } } };
  expect(conditionOf(strict, { resource_type: 'Any::Resource::Rule::Limit' })).toBe('optional');
  expect(conditionOf({}, {})).toBe('optional');
});

const endpoint: Schema = {
  properties: {
    implementation_id: {
      'x-terrarium-reference': {
        decidedBy: 'implementation_type',
        targets: { lambda: { word: 'lambdas', right: 'invoke' }, container: { word: 'containers', right: 'view' } },
      },
    },
    port: { 'x-terrarium-form': { entryOf: { property: 'implementation_id', list: 'port_mappings' } } },
  },
};

it('takes the old target away with its type, in its place', () => {
  const before = {
    resource: '/',
    implementation_type: 'container',
    implementation_id: 'a',
    port: 'web',
    methods: ['GET'],
  };
  const { port: _, ...otherProperties } = before;
  expect(withMember(endpoint, before, 'implementation_type', 'lambda')).toEqual({
    resource: '/',
    implementation_type: 'lambda',
    methods: ['GET'],
  });
  expect(withMember(endpoint, before, 'implementation_id', 'b')).toEqual({
    ...otherProperties,
    implementation_id: 'b',
  });
  expect(withMember(endpoint, before, 'implementation_type', 'container')).toEqual(before);
  expect(Object.keys(withMember(endpoint, before, 'resource', '/x'))).toEqual(Object.keys(before));
  expect(Object.keys(withMember(endpoint, before, 'more', 1))).toEqual([...Object.keys(before), 'more']);
  expect(withMember(endpoint, before, 'methods', undefined)).not.toHaveProperty('methods');
});

it('omits values that the server filled in for the previous one', () => {
  const schema: Schema = { properties: { id: {}, name: { 'x-terrarium-form': { isFilledIn: true } } } };
  const link = { id: 'a', name: 'old', location: 'here' };
  expect(withMember(schema, link, 'id', 'b')).toEqual({ id: 'b', location: 'here' });
  expect(withMember(schema, link, 'location', 'there')).toEqual({ ...link, location: 'there' });
});

it('offers the possible values of a property, as an id or as a link', () => {
  const to = namedBy(endpoint.properties?.implementation_id ?? {});
  const targetCollections = (conditionValue?: string) =>
    to && targetsOf(to, conditionValue).map(({ word: collection }) => collection);
  expect(targetCollections('container')).toEqual(['containers']);
  expect(targetCollections()).toEqual(['lambdas', 'containers']);
  const user = { 'x-terrarium-reference': { word: 'users', right: 'view' } } as const;
  expect(namedBy({ anyOf: [user, { type: 'object' }] })).toBe(user['x-terrarium-reference']);
  expect(namedBy({ type: 'string' })).toBeUndefined();
});
