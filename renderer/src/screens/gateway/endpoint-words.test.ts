import { expect, it } from 'vitest';
import type { PlatformRecord } from '../../api/use-world.ts';
import { endpointWords } from './endpoint-words.ts';

const describeEndpoint = (properties: PlatformRecord['properties']) =>
  endpointWords({
    id: 'e',
    name: 'e',
    resource_type: '',
    resource_state: '',
    org: { id: 'o', typeId: '' },
    properties,
  });

it('says who may call an endpoint', () => {
  expect(describeEndpoint({}).access).toBe('everyone');
  expect(describeEndpoint({ plugins: { platformSecurity: { enabled: false, users: ['u'] } } }).access).toBe('everyone');
  expect(describeEndpoint({ plugins: { platformSecurity: { enabled: true } } }).access).toBe('signed-in users');
  const some = { enabled: true, users: ['u'], groups: ['g', 'h'] };
  expect(describeEndpoint({ plugins: { brandSecurity: some }, whitelist: ['10.0.0.0/8'] }).access).toBe(
    '1 user, 2 groups from 1 address',
  );
  expect(describeEndpoint({ plugins: 'odd', whitelist: ['::1', '127.0.0.1'] }).access).toBe(
    'everyone from 2 addresses',
  );
});

it('says how it is called', () => {
  expect(describeEndpoint({})).toMatchObject({ methods: 'any', hosts: [], isAsynchronous: false });
  expect(describeEndpoint({ methods: ['GET', 'POST'], hosts: ['a.test'], synchronous: false })).toMatchObject({
    methods: 'GET POST',
    hosts: ['a.test'],
    isAsynchronous: true,
  });
});
