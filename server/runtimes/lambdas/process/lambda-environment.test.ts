import { describe, expect, it } from 'vitest';
import { crmHostIn, hostEnvironment, isReadAtStart, ownCrm } from './lambda-environment.ts';

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

describe('the paths of forms at the CRM that variables name (D-200)', () => {
  const crm = { CRM_API_BASEPATH: 'crm.example' };
  it.each([
    ['a path', { ...crm, CRM_PATH: '/forms/lead' }, ['/forms/lead']],
    ['a variable of any name', { ...crm, WHERE: '/forms/lead' }, ['/forms/lead']],
    ['a path without a slash', { ...crm, CRM_PATH: 'forms/lead' }, ['/forms/lead']],
    ['a path with a query and a fragment', { ...crm, CRM_PATH: '/forms/lead?encoding=UTF-8#x' }, ['/forms/lead']],
    ['a path with two slashes', { ...crm, CRM_PATH: '//forms/lead' }, ['//forms/lead']],
    ['a path that is escaped in part', { ...crm, CRM_PATH: '/formulär/a%20b' }, ['/formul%C3%A4r/a%20b']],
    ['an empty value', { ...crm, CRM_PATH: '' }, []],
    ['only a query', { ...crm, CRM_PATH: '?encoding=UTF-8' }, []],
    ['a whole URL', { ...crm, CRM_URL: 'https://crm.example/forms/lead?x' }, ['/forms/lead']],
    ['text', { ...crm, SUBJECT: 'a new lead' }, []],
    [
      'a path below that of the base',
      { CRM_API_BASEPATH: 'https://crm.example/v1/', CRM_PATH: '/lead' },
      ['/lead', '/v1', '/v1/lead'],
    ],
    ['the same path twice', { ...crm, A: '/lead', B: 'lead' }, ['/lead']],
  ])('%s', (_what, env, formPaths) => {
    expect(ownCrm(env)).toEqual({ hosts: [{ hostname: 'crm.example' }], formPaths });
  });

  it('apply to the hosts of the settings, too', () => {
    const hosts = [{ hostname: 'crm.example' }, { hostname: 'forms.example', port: 8443 }];
    const settings = ['forms.example:8443', ' '];
    expect(ownCrm({ ...crm, CRM_PATH: '/lead' }, settings)).toEqual({ hosts, formPaths: ['/lead'] });
    expect(ownCrm({}, settings)).toEqual({ hosts: hosts.slice(1), formPaths: [] });
  });

  it.each(['127.0.0.1:9443', 'localhost', 'http://[::1]:80', 'x.localhost', 'platform.example'])(
    '%s is no CRM',
    (host) => {
      expect(ownCrm({ CRM_API_BASEPATH: host }, [host], ['platform.example'])).toBeUndefined();
    },
  );

  it('there are none without a CRM', () => {
    expect(ownCrm({ CRM_PATH: '/forms/lead' })).toBeUndefined();
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
