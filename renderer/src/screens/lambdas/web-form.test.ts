import { expect, it } from 'vitest';
import { codeOf } from './code-text.ts';
import { firstEventOf, payloadIn, WEB_FORM_EVENT, WEB_FORM_MEMBERS, withMember } from './web-form.ts';

it('has the eight members of the specification', () => {
  const members = ['firstName', 'lastName', 'company', 'phone', 'email', 'title', 'size', 'message'];
  expect(Object.keys(payloadIn(WEB_FORM_EVENT) ?? {}).sort()).toEqual(members.sort());
  expect(WEB_FORM_MEMBERS).toHaveLength(8);
});

it('changes one member and leaves alone what else there is', () => {
  const changed = withMember('{"payload":{"firstName":"Ada","own":1},"eventName":"made"}', 'firstName', 'Grace');
  expect(JSON.parse(changed)).toEqual({ payload: { firstName: 'Grace', own: 1 }, eventName: 'made' });
});

it.each(['', 'nonsense', '[]', '{}', '{"payload":"text"}'])('finds no payload in %j', (event) => {
  expect(payloadIn(event)).toBeUndefined();
});

it.each([
  [{ env: { CRM_OID: '1' } }, WEB_FORM_EVENT],
  [{ env: {}, code: codeOf('send({ oid: process.env.CRM_OID })') }, WEB_FORM_EVENT],
  [{ env: {}, code: codeOf('exports.run = () => 1') }, '{}'],
  [{}, '{}'],
])('a lambda with %j is tried with %s at first', (properties, event) => {
  expect(firstEventOf({ properties })).toBe(event);
});
