import { expect, it } from 'vitest';
import { conditionOf, inFormOrder, isLeading, labelOf, namedBy, targetsOf, withMember } from './property-facts.ts';
import type { Schema } from './use-type-schema.ts';

it.each([
  ['implementation_type', { title: 'Target type' }, 'Target type'],
  ['health_checks', {}, 'Health checks'],
  ['firstName', {}, 'First name'],
  ['name', undefined, 'Name'],
])('says %s as people do', (name, schema, words) => expect(labelOf(name, schema)).toBe(words));

it('puts what leads first, in its order, and the rest as it stands', () => {
  const properties = { a: {}, b: { 'x-terrarium-form': { order: 2 } }, c: { 'x-terrarium-form': { order: 1 } }, d: {} };
  expect(inFormOrder(properties)).toEqual(['c', 'b', 'a', 'd']);
  expect(Object.values(properties).map(isLeading)).toEqual([false, true, true, false]);
});

it('does not ask for what has no meaning beside the other properties, and requires what they need', () => {
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
  const { port: _, ...others } = before;
  expect(withMember(endpoint, before, 'implementation_type', 'lambda')).toEqual({
    resource: '/',
    implementation_type: 'lambda',
    methods: ['GET'],
  });
  expect(withMember(endpoint, before, 'implementation_id', 'b')).toEqual({ ...others, implementation_id: 'b' });
  expect(withMember(endpoint, before, 'implementation_type', 'container')).toEqual(before);
  expect(Object.keys(withMember(endpoint, before, 'resource', '/x'))).toEqual(Object.keys(before));
  expect(Object.keys(withMember(endpoint, before, 'more', 1))).toEqual([...Object.keys(before), 'more']);
  expect(withMember(endpoint, before, 'methods', undefined)).not.toHaveProperty('methods');
});

it('leaves behind what the server had filled in of the old one', () => {
  const schema: Schema = { properties: { id: {}, name: { 'x-terrarium-form': { isFilledIn: true } } } };
  const link = { id: 'a', name: 'old', location: 'here' };
  expect(withMember(schema, link, 'id', 'b')).toEqual({ id: 'b', location: 'here' });
  expect(withMember(schema, link, 'location', 'there')).toEqual({ ...link, location: 'there' });
});

it('offers what a property can name, as an id or as a link, whatever it is while that is not decided', () => {
  const to = namedBy(endpoint.properties?.implementation_id ?? {});
  const words = (decider?: string) => to && targetsOf(to, decider).map(({ word }) => word);
  expect(words('container')).toEqual(['containers']);
  expect(words()).toEqual(['lambdas', 'containers']);
  const user = { 'x-terrarium-reference': { word: 'users', right: 'view' } } as const;
  expect(namedBy({ anyOf: [user, { type: 'object' }] })).toBe(user['x-terrarium-reference']);
  expect(namedBy({ type: 'string' })).toBeUndefined();
});
