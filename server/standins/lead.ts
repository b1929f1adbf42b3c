import { z } from 'zod';
import type { Uuid } from '../model/ids.ts';
import { parseWith } from '../model/validate.ts';

const text = z.string();

/** Who sent a lead, and why. */
const leadSender = z.strictObject({
  lambdaId: z.guid(),
  lambdaName: text,
  /** The event that the lambda was called with, as text. */
  event: text.exactOptional(),
  /** The lambda's CRM_OID: what `oid` has to be. */
  crmOid: text.exactOptional(),
});
export type LeadSender = z.output<typeof leadSender>;

/** A form that reached the CRM stand-in (D-200). */
const leadSchema = z.strictObject({
  id: z.guid(),
  /** ISO-8601 UTC with milliseconds (D-014). */
  receivedAt: z.iso.datetime(),
  /** The CRM organization the form was meant for. */
  oid: text,
  /** Every field in the order sent, repeated ones included. */
  fields: z.array(z.strictObject({ name: text, value: text })),
  /** The fields of a lead under the names of the web form's own message (spec, "Lambda contract"). */
  mapped: z.record(text, text),
  /** Where the client believed it was sending: the Host header, and the path with its query. */
  source: z.strictObject({ host: text, path: text }),
  /** The client's address. */
  remote: text,
  /** The invocation that sent it, when a lambda of this platform did. */
  executionId: z.guid().exactOptional(),
  /** What was known of that lambda and its call then. */
  sender: leadSender.exactOptional(),
});
export type Lead = z.output<typeof leadSchema>;

/** A form that the CRM stand-in did not take: a lead that is lost unless it is sent again. */
export interface RefusedForm extends Omit<Lead, 'oid'> {
  oid?: string;
  /** What its sender was answered. */
  refused: { status: number; message: string };
}

/** A lead that comes from elsewhere, such as an archive. Throws 400 for what is none. */
export function parseLead(value: unknown): Lead {
  return parseWith(leadSchema, value);
}

const memberOfField: Readonly<Record<string, string>> = {
  lead_source: 'leadSource',
  first_name: 'firstName',
  last_name: 'lastName',
  company: 'company',
  email: 'email',
  title: 'title',
  phone: 'phone',
  employees: 'size', // the number of them
};

/** Ids of custom fields in a CRM organization start so, e.g. `00N5g00000XXXXX`. */
const CUSTOM_FIELD = /^00N[0-9A-Za-z]+$/;

/** The fields under their names in the web form's message; of a repeated field the first counts. */
export function mapLead(fields: Lead['fields']): Lead['mapped'] {
  const mapped: Lead['mapped'] = {};
  for (const { name, value } of fields) {
    const member = Object.hasOwn(memberOfField, name) ? memberOfField[name] : undefined;
    if (member) mapped[member] ??= value;
    else if (CUSTOM_FIELD.test(name)) mapped.message ??= value; // the first of them
  }
  return mapped;
}

/** Which leads to list; an absent member matches all. */
export interface LeadFilter {
  /** In any letter case. */
  email?: string | undefined;
  /** Received at this moment or later, epoch milliseconds. */
  sinceMs?: number | undefined;
  /** Sent by this invocation. */
  executionId?: Uuid | undefined;
  /** Those that were refused, in place of those that were taken. */
  isRefused?: boolean | undefined;
}

const leadQuery = z.strictObject({
  email: z.string('is given at most once').optional(),
  since: z.iso.datetime({ offset: true, error: 'is not a time such as 2026-01-31T09:30:00Z' }).optional(),
  execution: z.guid('is not the id of an invocation').optional(),
  refused: z.enum(['true', 'false'], 'is neither true nor false').optional(),
});

/** The filter in the query of `GET /inspect/leads?email=&since=&execution=&refused=`. Throws 400 for anything else in it. */
export function parseLeadFilter(query: unknown): LeadFilter {
  const { email, since, execution, refused } = parseWith(leadQuery, query);
  return {
    email,
    sinceMs: since === undefined ? undefined : Date.parse(since),
    executionId: execution?.toLowerCase(),
    isRefused: refused === 'true',
  };
}

/** Is the lead one of those asked for, taken or not? */
export function matchesLead(lead: Lead | RefusedForm, { email, sinceMs, executionId }: LeadFilter): boolean {
  return (
    (email === undefined || lead.mapped.email?.toLowerCase() === email.toLowerCase()) &&
    (sinceMs === undefined || Date.parse(lead.receivedAt) >= sinceMs) &&
    (executionId === undefined || lead.executionId === executionId)
  );
}
