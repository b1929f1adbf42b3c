import { isJsonObject, type JsonObject, jsonIn } from '../../../../server/model/json.ts';
import { nearestOf } from '../../../../server/model/nearest.ts';
import type { Lead } from './use-leads.ts';

/**
 * Is a row of the CRM integration's table as it has to be? `ok` and `wrong` compare with what the lambda was given; `absent` is a
 * field without a value; `unknown` cannot be compared; `extra` is none of the table's.
 */
export type Verdict = 'ok' | 'wrong' | 'absent' | 'unknown' | 'extra';

export interface MappingRow {
  field: string;
  /** The source of the value in the mapping table. */
  from: string;
  /** The value; undefined if it is unknown or missing. */
  expected: string | undefined;
  /** The sent value; undefined when the form does not have the field. */
  value: string | undefined;
  verdict: Verdict;
  why: string;
  /** The change to make in the lambda if the value is wrong. */
  advice?: string;
}

/** Form field, and the member of the payload it comes from (the platform's specification, "Lambda contract"). */
const MEMBERS = [
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['company', 'company'],
  ['email', 'email'],
  ['title', 'title'],
  ['phone', 'phone'],
  ['employees', 'size'],
] as const;
const LEAD_SOURCE = 'Website';
const OID_SOURCE = "the lambda's CRM_OID";
/** Placeholder for the custom field while the form has none. */
const MESSAGE_FIELD = '(a custom field)';
/** Custom fields are named by ids of the CRM organization. */
const CUSTOM_FIELD = /^00N[0-9A-Za-z]+$/;

/** The payload in the event that the lambda was called with, or why there is none to compare with. */
export function payloadOf({ sender }: Pick<Lead, 'sender'>): { payload?: JsonObject; why: string } {
  if (!sender) return { why: 'no lambda of this platform sent it' };
  if (sender.event === undefined) return { why: 'the event was not stored: it was empty, too long, or not text' };
  const event = jsonIn(sender.event);
  if (event === undefined) return { why: 'its event is not valid JSON' };
  const payload = isJsonObject(event) ? event.payload : undefined;
  return isJsonObject(payload) ? { payload, why: '' } : { why: "its event has no 'payload'" };
}

/** A member of the payload that none of the table's rows reads. */
export interface UnreadMember {
  name: string;
  /** The member that was probably meant: it is not there, and its name is almost the same. */
  intendedName: string | undefined;
}

/** Payload values that no field of the form contains, neither by the mapping table nor unchanged. */
export function unusedMembersOf(lead: Lead): UnreadMember[] {
  const { payload } = payloadOf(lead);
  if (!payload) return [];
  const sentValues = new Set(lead.fields.map(({ value }) => value));
  const knownMembers = [...MEMBERS.map(([, member]) => member), 'message'];
  const missing = knownMembers.filter((member) => textOf(payload[member]) === '');
  return Object.keys(payload)
    .filter(
      (name) => !knownMembers.includes(name) && textOf(payload[name]) !== '' && !sentValues.has(textOf(payload[name])),
    )
    .map((name) => ({ name, intendedName: nearestOf(name, missing) }));
}

/** Every row of the table, then the fields that only this form has. */
export function mappingOf(lead: Lead): MappingRow[] {
  const { fields, sender } = lead;
  const { payload, why: noPayload } = payloadOf(lead);
  const sentValues = new Map(fields.toReversed().map(({ name, value }) => [name, value]));
  const custom = fields.find(({ name }) => CUSTOM_FIELD.test(name))?.name;
  const inPayload = (member: string) => (payload ? textOf(payload[member]) : undefined);
  const compared = (field: string, from: string, expected: string | undefined, unknown = noPayload): MappingRow => {
    const judged = judge(expected, sentValues.get(field), unknown);
    const advice = judged.verdict === 'wrong' && { advice: adviceFor(field, from) };
    return { field, from, expected, value: sentValues.get(field), ...judged, ...advice };
  };
  // Web-to-case forms name it so.
  const oidField = sentValues.has('orgid') && !sentValues.has('oid') ? 'orgid' : 'oid';
  const knownFields = new Set<string>([oidField, 'lead_source', ...MEMBERS.map(([field]) => field), custom ?? '']);
  return [
    sentValues.get(oidField)?.trim()
      ? compared(oidField, OID_SOURCE, sender?.crmOid, sender ? 'the lambda has no CRM_OID' : noPayload)
      : missingOid(sender?.crmOid, sentValues.get('oid')),
    compared('lead_source', 'constant', LEAD_SOURCE),
    ...MEMBERS.map(([field, member]) => compared(field, `payload.${member}`, inPayload(member))),
    compared(custom ?? MESSAGE_FIELD, 'payload.message', inPayload('message')),
    ...fields
      .filter(({ name }) => !knownFields.has(name))
      .map(
        ({ name, value }): MappingRow => ({
          field: name,
          from: '-',
          expected: undefined,
          value,
          verdict: 'extra',
          why: 'not in the mapping table; a form can have additional fields',
        }),
      ),
  ];
}

function judge(
  expected: string | undefined,
  value: string | undefined,
  unknown: string,
): Pick<MappingRow, 'verdict' | 'why'> {
  if (expected === undefined) {
    if (value === undefined) return { verdict: 'wrong', why: 'the form does not have the field' };
    return { verdict: 'unknown', why: `nothing to compare with: ${unknown}` };
  }
  if (expected === '' && (value ?? '') === '') return { verdict: 'absent', why: 'the payload has no value for it' };
  if (value === expected) return { verdict: 'ok', why: 'as in the payload' };
  if (value === undefined) return { verdict: 'wrong', why: 'in the payload, but not in the form' };
  return { verdict: 'wrong', why: value === '' ? 'in the payload, but sent empty' : 'another value was sent' };
}

/** Required: the CRM rejects a form without it. */
function missingOid(expected: string | undefined, value: string | undefined): MappingRow {
  const advice = expected ? adviceFor('oid', OID_SOURCE) : 'set CRM_OID in the environment of the lambda';
  const why = value === undefined ? 'the form does not have the field' : 'sent empty';
  return { field: 'oid', from: OID_SOURCE, expected, value, verdict: 'wrong', why, advice };
}

/** Returns the change that makes a field correct. */
function adviceFor(field: string, from: string): string {
  if (field === 'oid')
    return 'send process.env.CRM_OID as oid; if the CRM organization is another one, change CRM_OID in the environment of the lambda';
  if (field === 'lead_source') return `send the constant text ${LEAD_SOURCE} as lead_source`;
  if (field === MESSAGE_FIELD)
    return 'send payload.message under the id of a custom field of the CRM organization: a name that begins with 00N';
  return `send ${from} as ${field}, unchanged`;
}

/** A member in the notation of a form: empty if it is missing. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
