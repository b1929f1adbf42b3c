import { describe, expect, it } from 'vitest';
import type { PlatformRecord } from '../../api/use-world.ts';
import { unsetVariablesIn } from './environment.ts';

const record = (properties: Record<string, unknown>) =>
  ({ id: 'x', name: 'x', properties }) as unknown as PlatformRecord;
const lambda = record({
  env: { OWN: '1' },
  secrets: [
    { mount_type: 'env', path: 'SECRET' },
    { mount_type: 'file', path: '/FILE' },
  ],
});
const above = [record({ env: { ABOVE: '2' } }), record({})];

describe('Variables that code reads and that are not set', () => {
  it.each([
    ['process.env.CRM_OID', ['CRM_OID']],
    ["process.env['CRM_OID'] + process.env.OWN", ['CRM_OID']],
    ['const { CRM_OID, OWN, CRM_PATH: path } = process.env;', ['CRM_OID', 'CRM_PATH']],
    ['f(process.env.A, process.env.B, process.env.A)', ['A', 'B']],
    ['process.env.OWN + process.env.ABOVE + process.env.SECRET + process.env.META_URL', []],
    ["process.env.PORT || '80'; process.env.HOST ?? 'localhost'", []],
    ["const { PORT = '80', ...rest } = process.env", []],
    ["process.env.DEBUG = 'no'", []],
    ["process.env.MODE === 'fast'", ['MODE']],
    ['// process.env.OLD\n/* process.env.OLDER */ 1', []],
    ["fetch('https://crm.example.com/' + process.env.CRM_PATH)", ['CRM_PATH']],
    ['const env = process.env; const all = { ...process.env };', []],
  ])('in %j are %j', (source, names) => {
    expect(unsetVariablesIn(source, lambda, { above })).toEqual(names);
  });
});
