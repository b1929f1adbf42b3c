import { expect, test } from 'vitest';
import { conditionOf, isFilledIn, withMember, withProperty } from './form-hints.ts';

test('what has no meaning beside the other properties is not asked for, what they need is required', () => {
  const code = (code_type: string) => conditionOf('lambdas', 'code', { code_type }, undefined);
  expect(code('Inline')).toBe('required');
  expect(code('Package')).toBe('unused');
  expect(conditionOf('lambdas', 'package_url', { code_type: 'package' }, undefined)).toBe('required');
  expect(conditionOf('apiendpoints', 'container_port_name', { implementation_type: 'lambda' }, undefined)).toBe(
    'unused',
  );
  expect(conditionOf('rules', 'lambda', {}, 'Any::Resource::Rule::Event')).toBe('required');
  expect(conditionOf('rules', 'lambda', {}, 'Any::Resource::Rule::Limit')).toBe('unused');
  expect(conditionOf('containers', 'image', {}, undefined)).toBe('optional');
});

test('another kind of target takes the old target with it, in its place', () => {
  const before = { resource: '/', implementation_type: 'lambda', implementation_id: 'a', methods: ['GET'] };
  expect(withProperty('apiendpoints', before, 'implementation_type', 'container')).toEqual({
    resource: '/',
    implementation_type: 'container',
    methods: ['GET'],
  });
  expect(withProperty('apiendpoints', before, 'implementation_type', 'lambda')).toEqual(before);
  expect(Object.keys(withProperty('apiendpoints', before, 'resource', '/x'))).toEqual(Object.keys(before));
  expect(withProperty('apiendpoints', before, 'methods', undefined)).not.toHaveProperty('methods');
});

test('another linked provider leaves behind what the server had filled in of the old one', () => {
  const pointer = '/properties/linked_providers/0';
  const link = { id: 'a', name: 'old', type: 'T', typeId: 't', location: 'here' };
  expect(withMember(pointer, link, 'id', 'b')).toEqual({ id: 'b', location: 'here' });
  expect(withMember(pointer, link, 'location', 'there')).toEqual({ ...link, location: 'there' });
  expect(isFilledIn(pointer, 'typeId')).toBe(true);
  expect(isFilledIn('/properties/port_mappings/0', 'name')).toBe(false);
});
