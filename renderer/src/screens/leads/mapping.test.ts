import { expect, it } from 'vitest';
import { mappingOf, payloadOf } from './mapping.ts';
import type { Lead } from './use-leads.ts';

const payload = { firstName: 'Ada', email: 'ada@example.com', size: 10, message: 'Please call' };

function leadWith(fields: Record<string, string>, event: unknown = { payload }, crmOid = '00D1'): Lead {
  return {
    id: '1',
    receivedAt: '2026-01-01T00:00:00.000Z',
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    mapped: {},
    source: { host: '', path: '' },
    remote: '',
    ...(event !== null && {
      executionId: '2',
      sender: { lambdaId: '3', lambdaName: 'web-form', event: JSON.stringify(event), crmOid },
    }),
  };
}
const rowsOf = (lead: Lead) => new Map(mappingOf(lead).map((row) => [row.field, row]));

it('marks values that were sent as given, numbers included', () => {
  const rows = rowsOf(
    leadWith({
      oid: '00D1',
      lead_source: 'Website',
      first_name: 'Ada',
      employees: '10',
      '00N5g00000XXXXX': 'Please call',
    }),
  );
  for (const field of ['oid', 'lead_source', 'first_name', 'employees', '00N5g00000XXXXX'])
    expect(rows.get(field), field).toMatchObject({ verdict: 'ok' });
  expect(rows.get('00N5g00000XXXXX')).toMatchObject({ from: 'payload.message', expected: 'Please call' });
});

it('crosses another value, an empty one, and a field that is not there', () => {
  const rows = rowsOf(leadWith({ oid: '00D2', lead_source: '', first_name: 'Bob' }));
  expect(rows.get('oid')).toMatchObject({ verdict: 'wrong', why: 'another value was sent', expected: '00D1' });
  expect(rows.get('lead_source')).toMatchObject({ verdict: 'wrong', why: 'in the payload, but sent empty' });
  expect(rows.get('first_name')).toMatchObject({ verdict: 'wrong', expected: 'Ada', value: 'Bob' });
  expect(rows.get('email')).toMatchObject({ verdict: 'wrong', why: 'in the payload, but not in the form' });
  expect(rows.get('(a custom field)')).toMatchObject({ verdict: 'wrong', value: undefined });
  expect(rows.get('oid')?.advice).toContain('send process.env.CRM_OID as oid');
  expect(rows.get('lead_source')?.advice).toBe('send the constant text Website as lead_source');
  expect(rows.get('email')?.advice).toBe('send payload.email as email, unchanged');
  expect(rows.get('(a custom field)')?.advice).toContain('a name that begins with 00N');
});

it('compares the organization of a web-to-case form, which has another name', () => {
  const rows = rowsOf(leadWith({ orgid: '00D1', lead_source: 'Website' }));
  expect(rows.get('orgid')).toMatchObject({ verdict: 'ok' });
  expect(rows.has('oid')).toBe(false);
});

it('marks missing values neither as correct nor as wrong', () => {
  const rows = rowsOf(leadWith({ title: '' }));
  expect(rows.get('title')).toMatchObject({ verdict: 'absent' });
  expect(rows.get('phone')).toMatchObject({ verdict: 'absent', value: undefined });
});

it('says why there is nothing to compare with', () => {
  const alone = leadWith({ oid: '00D1', lead_source: 'Website', first_name: 'Ada' }, null);
  expect(rowsOf(alone).get('first_name')).toMatchObject({
    verdict: 'unknown',
    why: 'nothing to compare with: no lambda of this platform sent it',
  });
  expect(rowsOf(alone).get('lead_source')).toMatchObject({ verdict: 'ok' });
  expect(payloadOf(leadWith({}, { other: 1 })).why).toBe("its event has no 'payload'");
  expect(payloadOf(leadWith({}, [])).why).toBe("its event has no 'payload'");
});

it('names fields that the table does not have, once each time they were sent', () => {
  const lead = leadWith({ retURL: 'https://x' });
  const twice = { ...lead, fields: [...lead.fields, ...lead.fields] };
  expect(mappingOf(twice).filter(({ verdict }) => verdict === 'extra')).toHaveLength(2);
});
