import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decideOutbound, meets, type OutboundRule } from './outbound-rule.ts';
import { outboundRulesRequest } from './outbound-rules-request.ts';

const crm = { hostname: 'crm.example', port: 443, isCrm: true };
const other = { hostname: 'api.partner.example', port: 8443, isCrm: false };
const rule = (fields: Omit<OutboundRule, 'id' | 'enabled'>): OutboundRule => ({
  id: randomUUID(),
  enabled: true,
  ...fields,
});

describe('the pattern of a rule', () => {
  it.each([
    ['api.partner.example', true],
    ['API.Partner.Example', true],
    ['*.partner.example', true],
    ['*', true],
    ['*.example:8443', true],
    ['*:443', false],
    ['partner.example', false],
    ['api-partner.example', false],
    ['{crm}', false],
  ])('%s meets api.partner.example:8443: %s', (pattern, expected) => {
    expect(meets(pattern, other)).toBe(expected);
  });

  it('names an IPv6 address in brackets', () => {
    expect(meets('[::1]:80', { hostname: '::1', port: 80, isCrm: false })).toBe(true);
    expect(meets('[::1]', { hostname: '::2', port: 80, isCrm: false })).toBe(false);
  });

  it('{crm} is the host that the lambda itself names', () => {
    expect(meets('{crm}', crm)).toBe(true);
  });
});

describe('a rule that answers', () => {
  const read = (fields: object) =>
    outboundRulesRequest.safeParse({ rules: [{ host: 'a', action: 'answer', ...fields }] });

  it.each([
    [{}],
    [{ body: { success: true } }],
    [{ body: 'text', status: 204, headers: { 'X-Mine': '1' }, times: 1, after: 0 }],
    [{ file: '/tmp/answer.json' }],
    [{ body: 'Dear {{name}}, {{#if request}}{{/if}} {{request}} {{ request.body.a.b }}' }],
    [{ body: { id: '{{request.query.id}}' }, headers: { 'X-Id': '{{uuid}}' } }],
  ])('accepts %j', (fields) => {
    expect(read(fields).success).toBe(true);
  });

  it.each([
    [{ body: 'a', file: '/a' }, "must have a 'body' or a 'file', not both"],
    [{ file: 'answer.json' }, 'must be an absolute path'],
    [{ headers: { 'Content-Length': '1' } }, 'must not contain Content-Length'],
    [{ headers: { 'a b': '1' } }, 'is not a header name'],
    [{ body: 'x'.repeat(262_144) }, "Use 'file' instead"],
    [
      { body: 'a {{ request.params.id }}' },
      'the answer for a contains {{request.params.id}}, which is no part of a request. Use {{request.method',
    ],
    [{ body: { deep: ['{{request.query}}'] } }, 'contains {{request.query}}'],
    [{ headers: { 'X-Id': '{{request.id}}' } }, 'contains {{request.id}}'],
    [{ times: 0 }, ''],
    [{ status: 100 }, ''],
    [{ error: 'ECONNRESET' }, ''],
  ])('rejects %j', (fields, message) => {
    const { success, error } = read(fields);
    expect(success).toBe(false);
    expect(JSON.stringify(error?.issues)).toContain(message);
  });
});

describe('the spellings of this machine', () => {
  const spellings = ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', 'localhost.', '[0:0:0:0:0:0:0:1]'];
  const hostnames = ['localhost', '127.0.0.1', '::1', 'localhost.'];

  it.each(spellings.flatMap((host) => hostnames.map((hostname) => [host, hostname] as const)))(
    'a rule for %s applies to a call to %s on the same port only',
    (host, hostname) => {
      const target = { hostname, port: 8080, isCrm: false };
      expect(meets(host, target)).toBe(true);
      expect([meets(`${host}:8080`, target), meets(`${host}:9090`, target)]).toEqual([true, false]);
      expect(meets('127.0.0.2', target)).toBe(false);
    },
  );
});

describe('what becomes of a call', () => {
  it('is left to itself without a rule, but for the CRM that the configuration catches', () => {
    expect(decideOutbound([], other, true)).toBeUndefined();
    expect(decideOutbound([], crm, false)).toBeUndefined();
    expect(decideOutbound([], crm, true)).toEqual({ action: 'catch', delayMs: 0, rules: [] });
  });

  it('is blocked outside this machine by the policy, unless a rule or the configuration of the CRM decides', () => {
    const outside = { ...other, blockedAs: 'outside' as const };
    expect(decideOutbound([], outside, true)).toEqual({ action: 'block', delayMs: 0, blockedAs: 'outside', rules: [] });
    expect(decideOutbound([rule({ host: '*', action: 'pass' })], outside, true)).toMatchObject({ action: 'pass' });
    expect(decideOutbound([], { ...outside, isMockedPort: true }, true)).toMatchObject({ action: 'catch' });
    expect(decideOutbound([], { ...crm, blockedAs: 'outside' }, true)).toMatchObject({ action: 'catch' });
    expect(decideOutbound([], { ...crm, blockedAs: 'outside' }, false)).toBeUndefined();
  });

  it('is left to the policy if it looks up a name of the CRM, because no mock responds to that', () => {
    const lookUp = { ...crm, port: 53, query: 'queryMx' };
    expect(decideOutbound([], lookUp, true)).toBeUndefined();
    expect(decideOutbound([], { ...lookUp, blockedAs: 'outside' }, true)).toMatchObject({ action: 'block' });
    expect(decideOutbound([], { ...lookUp, blockedAs: 'outside' }, false)).toBeUndefined();
  });

  it('is blocked to a metadata service unless a rule without a star decides', () => {
    const metadata = { hostname: 'fd00:ec2::254', port: 80, isCrm: false, blockedAs: 'metadata' as const };
    const decide = (host: string, action: 'pass' | 'block') => decideOutbound([rule({ host, action })], metadata, true);
    expect(decide('*', 'pass')).toMatchObject({ action: 'block', blockedAs: 'metadata', rules: [] });
    expect(decide('[fd00:ec2::254]', 'pass')).toMatchObject({ action: 'pass' });
    expect(decide('*', 'block')).toMatchObject({ action: 'block', rules: [{ text: 'block for *' }] });
  });

  it('is decided by the address of the connection, too', () => {
    const named = { ...other, address: '192.0.2.7' };
    expect(meets('192.0.2.7', named)).toBe(true);
    expect(meets('api.partner.example', named)).toBe(true);
    expect(meets('192.0.2.8', named)).toBe(false);
  });

  it('is decided by the first enabled rule that matches', () => {
    const off = { ...rule({ host: '*', action: 'block' }), enabled: false };
    const fail = rule({ host: '*.example', action: 'fail', status: 500 });
    expect(decideOutbound([off, fail, rule({ host: '*', action: 'pass' })], crm, true)).toEqual({
      action: 'fail',
      delayMs: 0,
      status: 500,
      rules: [{ id: fail.id, text: 'fail with 500 for *.example' }],
    });
  });

  it('is delayed by each delay rule above the deciding rule or the configuration', () => {
    const slow = rule({ host: '{crm}', action: 'delay', delayMs: 3_000 });
    expect(decideOutbound([slow], crm, true)).toMatchObject({
      action: 'catch',
      delayMs: 3_000,
      rules: [{ id: slow.id }],
    });
    const twice = decideOutbound([slow, slow, rule({ host: '*', action: 'block' })], crm, true);
    expect(twice).toMatchObject({ action: 'block', delayMs: 6_000 });
    expect(twice?.rules).toHaveLength(3);
    expect(decideOutbound([slow], other, true)).toBeUndefined();
  });
});

describe('rules as they are sent', () => {
  it.each([
    { host: 'http://x', action: 'pass' },
    { host: '', action: 'pass' },
    { host: 'a*b*c*d*e*f', action: 'pass' },
    { host: 'x', action: 'delay' },
    { host: 'x', action: 'delay', delayMs: -1 },
    { host: 'x', action: 'fail' },
    { host: 'x', action: 'fail', status: 500, error: 'ECONNRESET' },
    { host: 'x', action: 'fail', status: 99 },
    { host: 'x', action: 'explode' },
    { host: 'x', action: 'pass', delayMs: 5 },
  ])('are refused as %j', (rule) => {
    expect(outboundRulesRequest.safeParse({ rules: [rule] }).success).toBe(false);
  });

  it('are enabled unless they say otherwise', () => {
    const { rules } = outboundRulesRequest.parse({ rules: [{ host: '{crm}', action: 'fail', error: 'ETIMEDOUT' }] });
    expect(rules).toEqual([{ host: '{crm}', action: 'fail', error: 'ETIMEDOUT', enabled: true }]);
  });
});
