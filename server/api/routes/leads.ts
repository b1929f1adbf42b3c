import { z } from 'zod';
import { id, object, time } from '../schemas/parts.ts';
import { waitS } from './logs.ts';
import { flag, moment, text, uuid } from './parameter.ts';
import { defineRoutes, noContent, ok, route } from './route.ts';

export const lead = object('Lead', {
  id,
  receivedAt: time,
  oid: z.string().optional().describe('The CRM organization of the form; can be absent only for a rejected form'),
  fields: z.array(z.object({ name: z.string(), value: z.string() })),
  mapped: z.record(z.string(), z.string()).describe('The fields under the names of the web form'),
  source: z.object({ host: z.string(), path: z.string() }),
  remote: z.string(),
  refused: z.object({ status: z.int(), message: z.string() }).optional().describe('Response to a rejected form'),
  deliveredAs: z.object({ id, at: time }).optional().describe('For a rejected form that arrived when resent: the lead'),
  refusedBefore: z.array(id).optional().describe('For a lead: the rejected forms that arrived as this lead'),
  executionId: id.optional().describe('The invocation that sent the form, if a lambda of this platform sent it'),
  sender: z
    .object({
      lambdaId: id,
      lambdaName: z.string(),
      event: z.string().optional().describe('The event of the invocation'),
      crmOid: z.string().optional().describe('Its `CRM_OID`'),
      replayOf: id.optional().describe('The invocation that it repeats'),
    })
    .optional(),
});
export type LeadView = z.output<typeof lead>;

/** Leads that the mock CRM captured (D-200). */
export const leadRoutes = defineRoutes('Captured leads', {
  listLeads: route('get /inspect/leads', 'caller', {
    summary: 'List captured leads, oldest first',
    description:
      'Leads from lambdas are listed if you can view the lambda. Other leads require permission to view the entire platform.',
    query: {
      email: text('Only leads with this email address, in any letter case'),
      since: moment('Only leads at or after this time'),
      execution: uuid('Only leads that this invocation sent'),
      refused: flag('`true` lists rejected forms; `refused` is the response that the sender got'),
      waitS,
    },
    isStrict: true,
    answer: ok(z.array(lead)),
    errors: [503],
  }),
  deleteLeads: route('delete /inspect/leads', 'root', {
    summary: 'Delete all captured leads',
    answer: ok(object('DeletedLeads', { deleted: z.int().describe('Number of deleted leads') })),
  }),
  deleteLead: route('delete /inspect/leads/{lead_id}', 'root', {
    summary: 'Delete a captured lead',
    answer: noContent,
  }),
});
