import type { Lead } from './use-leads.ts';

/** The CRM integration's table: form field, and the member of the payload it comes from. */
const MAPPING = [
  ['oid', 'CRM_OID of the lambda'],
  ['lead_source', 'constant'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['company', 'company'],
  ['email', 'email'],
  ['title', 'title'],
  ['phone', 'phone'],
  ['employees', 'size'],
] as const;

export interface MappingRow {
  field: string;
  /** Undefined when the form does not have the field. */
  value: string | undefined;
  from: string;
  /** Is there something in it? */
  isGiven: boolean;
}

/** Every field of the mapping table, then those that only this form has: the custom field of the message, and what is unknown. */
export function mappingOf({ fields, mapped }: Lead): MappingRow[] {
  const sent = new Map(fields.map(({ name, value }) => [name, value]));
  const known = new Set<string>(MAPPING.map(([field]) => field));
  const row = (field: string, from: string): MappingRow => {
    const value = sent.get(field);
    return { field, value, from, isGiven: value !== undefined && value !== '' };
  };
  const custom = fields.filter(({ name }) => !known.has(name));
  return [
    ...MAPPING.map(([field, from]) => row(field, from)),
    ...custom.map(({ name, value }) => row(name, value === mapped.message ? 'message' : 'not in the table')),
  ];
}
