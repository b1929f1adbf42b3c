import { describe, expect, it } from 'vitest';
import { crmHostIn, hostEnvironment, isReadAtStart } from './lambda-environment.ts';

describe('what CRM_API_BASEPATH names (D-200)', () => {
  it.each([
    ['crm.example', { hostname: 'crm.example' }],
    [' CRM.Example ', { hostname: 'crm.example' }],
    ['crm.example:8443', { hostname: 'crm.example', port: 8443 }],
    ['crm.example:443', { hostname: 'crm.example' }],
    ['https://crm.example/servlet', { hostname: 'crm.example' }],
    ['http://crm.example:80', { hostname: 'crm.example' }],
    ['https://crm.example:9000/x?y', { hostname: 'crm.example', port: 9000 }],
    ['127.0.0.1:5000', { hostname: '127.0.0.1', port: 5000 }],
    ['[::1]:5000', { hostname: '::1', port: 5000 }],
    ['', undefined],
    ['  ', undefined],
    ['http://', undefined],
    ['not a host', undefined],
    [undefined, undefined],
  ])('%j is %j', (value, expected) => {
    expect(crmHostIn(value)).toEqual(expected);
  });
});

it('of the host only PATH, TZ and LANG are passed on (D-113)', () => {
  const host = { PATH: '/bin', LANG: 'C', TZ: undefined, HOME: '/root', NODE_OPTIONS: '--inspect', SECRET: 'x' };
  expect(hostEnvironment(host)).toEqual({ PATH: '/bin', LANG: 'C' });
});

it('variables that Node reads only at its start need a process started with them', () => {
  expect(isReadAtStart({ NODE_ENV: 'test', NODES: '1', A: 'b' })).toBe(false);
  for (const name of ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'LD_PRELOAD']) {
    expect(isReadAtStart({ [name]: 'x' })).toBe(true);
  }
});
