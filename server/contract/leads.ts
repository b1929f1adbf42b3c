import { z } from 'zod';
import { waitS } from './logs.ts';
import { named } from './named.ts';
import { text } from './parameter.ts';
import { id, time } from './parts.ts';
import { gone, ok, rowsOf } from './row.ts';

const lead = named(
  'Lead',
  z.object({
    id,
    receivedAt: time,
    oid: z
      .string()
      .optional()
      .describe('The CRM organization that the form was meant for; only a refused form may have none'),
    fields: z.array(z.object({ name: z.string(), value: z.string() })),
    mapped: z.record(z.string(), z.string()).describe("The fields under the web form's own names"),
    source: z.object({ host: z.string(), path: z.string() }),
    remote: z.string(),
    refused: z
      .object({ status: z.int(), message: z.string() })
      .optional()
      .describe('Of a form that was not taken: what its sender was told'),
    executionId: id.optional().describe('The invocation that sent it, if a lambda of this platform did'),
    sender: z
      .object({
        lambdaId: id,
        lambdaName: z.string(),
        event: z.string().optional().describe('What the lambda was called with'),
        crmOid: z.string().optional().describe('Its `CRM_OID`'),
      })
      .optional(),
  }),
);
export type ShownLead = z.output<typeof lead>;

const root = { right: 'root', description: 'For the root user.' } as const;

/** What the CRM stand-in caught (D-200). */
export const leadRows = rowsOf('Caught leads', {
  listLeads: {
    route: 'get /inspect/leads',
    summary: 'Web forms that the CRM stand-in caught, oldest first',
    description:
      'Those that came from lambdas which one may view; the others for whoever may look at the whole platform.',
    right: 'caller',
    // As texts: the stand-in reads them, and says where one is none.
    query: {
      email: text('Only leads of this address, in any letter case'),
      since: text('Only leads of this moment or later', { format: 'date-time' }),
      execution: text('Only leads that this invocation sent', { format: 'uuid' }),
      refused: text(
        'With `true` the forms that the CRM stand-in refused, each with what its sender was told as `refused`',
        { type: 'boolean', default: false },
      ),
      waitS,
    },
    isStrict: true,
    answer: ok(z.array(lead)),
    errors: [503],
  },
  deleteLeads: {
    route: 'delete /inspect/leads',
    summary: 'Delete all caught leads',
    ...root,
    answer: ok(named('DeletedLeads', z.object({ deleted: z.int().describe('How many there were') }))),
    errors: [503],
  },
  deleteLead: {
    route: 'delete /inspect/leads/{lead_id}',
    summary: 'Delete a caught lead',
    ...root,
    answer: gone,
    errors: [400, 404, 503],
  },
});
