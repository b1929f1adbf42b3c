import { expect, it } from 'vitest';
import { mappingOf } from './mapping.ts';

const lead = {
  id: '1',
  receivedAt: '2026-01-01T00:00:00.000Z',
  fields: [
    { name: 'first_name', value: 'Ada' },
    { name: 'title', value: '' },
    { name: '00N5g00000XXXXX', value: 'Please call' },
  ],
  mapped: { firstName: 'Ada', message: 'Please call' },
  source: {},
};

it('tells what was given from what was empty and what was not in the form at all', () => {
  const rows = new Map(mappingOf(lead).map((row) => [row.field, row]));
  expect(rows.get('first_name')).toMatchObject({ value: 'Ada', isGiven: true, from: 'firstName' });
  expect(rows.get('title')).toMatchObject({ value: '', isGiven: false });
  expect(rows.get('oid')).toMatchObject({ value: undefined, isGiven: false });
});

it('knows the custom field of the message by its value', () => {
  expect(mappingOf(lead).at(-1)).toMatchObject({ field: '00N5g00000XXXXX', from: 'message', isGiven: true });
});
