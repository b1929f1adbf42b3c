import { z } from 'zod';
import type { Uuid } from '../../model/record.ts';
import { parseWith } from '../../model/rules/validate.ts';

const text = z.string();

const leadSender = z.strictObject({
  lambdaId: z.guid(),
  lambdaName: text,
  /** The event that the lambda was called with; absent when it is long or no text. */
  event: text.exactOptional(),
  /** The CRM_OID of the lambda, which `oid` must equal. */
  crmOid: text.exactOptional(),
  replayOf: z.guid().exactOptional(),
});

/** A form that the mock CRM received (D-200). */
const leadSchema = z.strictObject({
  id: z.guid(),
  /** ISO-8601 UTC with milliseconds (D-014). */
  receivedAt: z.iso.datetime(),
  oid: text,
  /** All fields in the order of the request, including repeated ones. */
  fields: z.array(z.strictObject({ name: text, value: text })),
  /** The fields of a lead under the names of the web form's message (spec, "Lambda contract"). */
  mapped: z.record(text, text),
  /** The address as seen by the client: the Host header, and the path with its query. */
  source: z.strictObject({ host: text, path: text }),
  remote: text,
  /** The invocation that sent the form, if a lambda of this platform sent it. */
  executionId: z.guid().exactOptional(),
  /** Data about that lambda and invocation at that time. */
  sender: leadSender.exactOptional(),
});
export type Lead = z.output<typeof leadSchema>;

export const LEADS = 'leads';

/** A form that the mock CRM rejected: the lead is lost unless it is sent again. */
export interface RefusedForm extends Omit<Lead, 'oid'> {
  oid?: string;
  refused: { status: number; message: string };
}

/** For a rejected form that arrived when it was sent again: the lead. For such a lead: the rejected forms, oldest first. */
export interface Delivery {
  deliveredAs?: { id: Uuid; at: string };
  refusedBefore?: Uuid[];
}

/**
 * Finds the rejected forms that arrived when they were sent again: in the same invocation, or in one that repeats it. If the
 * invocation sent several forms, the lead is that of the same person; otherwise the person can have been edited before the replay.
 * @returns the deliveries by the id of each of these forms and leads
 */
export function deliveriesOf(forms: Iterable<RefusedForm>, leads: Iterable<Lead>): Map<Uuid, Delivery> {
  const [all, receivedLeads] = [[...forms], [...leads]];
  const originals = new Map<string | undefined, Uuid | undefined>();
  const sentCounts = new Map<string | undefined, number>();
  for (const { executionId, sender } of [...all, ...receivedLeads]) {
    originals.set(executionId, sender?.replayOf);
    sentCounts.set(executionId, (sentCounts.get(executionId) ?? 0) + 1);
  }
  const sentIn = new Map<string, Lead[]>();
  for (const lead of receivedLeads) {
    const visited = new Set<Uuid>();
    for (let at = lead.executionId; at !== undefined && !visited.has(at); at = originals.get(at)) {
      visited.add(at);
      sentIn.set(at, [...(sentIn.get(at) ?? []), lead]);
    }
  }
  const deliveries = new Map<Uuid, Delivery>();
  for (const {
    id,
    executionId = '',
    receivedAt,
    mapped: { email },
  } of all) {
    const later = (sentIn.get(executionId) ?? []).filter((candidate) => candidate.receivedAt >= receivedAt);
    const samePerson = later.find(({ mapped }) => (mapped.email ?? email) === (email ?? mapped.email));
    const lead = samePerson ?? (sentCounts.get(executionId) === 1 ? later[0] : undefined);
    if (!lead) continue;
    deliveries.set(id, { deliveredAs: { id: lead.id, at: lead.receivedAt } });
    const refusedBefore = deliveries.get(lead.id)?.refusedBefore ?? [];
    refusedBefore.push(id);
    deliveries.set(lead.id, { refusedBefore });
  }
  return deliveries;
}

/** Validates a lead from elsewhere, such as an archive. Throws 400 if it is invalid. */
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
  employees: 'size', // the number of digits
};

/** Ids of custom fields in a CRM organization begin like this, e.g. `00N5g00000XXXXX`. */
const CUSTOM_FIELD = /^00N[0-9A-Za-z]+$/;

/** The fields under their names in the web form's message; the first of a repeated field counts. */
export function mapLead(fields: Lead['fields']): Lead['mapped'] {
  const mapped: Lead['mapped'] = {};
  for (const { name, value } of fields) {
    const member = Object.hasOwn(memberOfField, name) ? memberOfField[name] : undefined;
    if (member) mapped[member] ??= value;
    else if (CUSTOM_FIELD.test(name)) mapped.message ??= value; // the first value
  }
  return mapped;
}

export interface LeadFilter {
  /** In any letter case. */
  email?: string | undefined;
  /** Received at or after this time, epoch milliseconds. */
  sinceMs?: number | undefined;
  executionId?: Uuid | undefined;
  isRefused?: boolean | undefined;
}

export function matchesLead(lead: Lead | RefusedForm, { email, sinceMs, executionId }: LeadFilter): boolean {
  return (
    (email === undefined || lead.mapped.email?.toLowerCase() === email.toLowerCase()) &&
    (sinceMs === undefined || Date.parse(lead.receivedAt) >= sinceMs) &&
    (executionId === undefined || lead.executionId === executionId)
  );
}
