import { z } from 'zod';
import { id, object, time } from '../schemas/parts.ts';
import { lead } from './leads.ts';
import { countOr, count as position, text, uuid } from './parameter.ts';
import { defineRoutes, ok, route } from './route.ts';

/** The places at which a form can stop on its way to the CRM, after those of a form that arrived. */
export const FORM_STOPS = [
  'delivered',
  'replayed', // it was lost, and arrived when it was sent again
  'rejected', // by the CRM, or by a rule about calls to it
  'answered', // by a rule about calls to the CRM, with a status of success
  'call', // an outbound call of the lambda failed
  'failed', // the lambda failed
  'invalid', // the body of the request is not JSON
  'unsent', // the lambda called nothing
  'limited', // by the rate limit of the endpoint
  'unauthorized',
  'gateway', // rejected by the gateway for another reason
] as const;
export type FormStop = (typeof FORM_STOPS)[number];

const form = object('SentForm', {
  seq: z.int().describe('Position in the list; `before` continues after it'),
  id: z.string().describe('ID of the lead, of the invocation, or `request-` and the number of the request'),
  at: time,
  stop: z.enum(FORM_STOPS).describe('Where the form stopped, or that it was delivered'),
  reason: z.string().describe('Why it stopped; for a form that a real CRM received, its host and status; else empty'),
  mapped: z.record(z.string(), z.string()).describe('The fields under the names of the web form'),
  lambdaId: id.optional(),
  lambdaName: z.string().optional(),
  executionId: id.optional().describe('The invocation that the form caused'),
  requestSeq: z.int().optional().describe('The request of a form that caused no invocation'),
  endpointId: id.optional().describe('The endpoint of such a request'),
  rule: z.object({ id: z.string(), text: z.string() }).optional().describe('The outbound rule that stopped it'),
  isForAnotherCrm: z.boolean().optional().describe("Whether `oid` differs from the lambda's `CRM_OID`"),
  isUnusualPath: z.boolean().optional().describe('A delivered form was posted to a path that CRMs do not expect'),
  lead: lead.optional().describe('The lead or the rejected form; only with `id`'),
});
export type FormView = z.output<typeof form>;

export const formRoutes = defineRoutes('Window', {
  listForms: route('get /inspect/forms', 'caller', {
    summary: 'List the forms that were sent, newest first, with where they stopped',
    description:
      'A form is a lead, a rejected form, an invocation with an event of a lambda that has or inherits a variable `CRM_OID` or ' +
      '`CRM_API_BASEPATH`, or has sent a form before, or a rejected POST request to its endpoint. Of a lambda without its own ' +
      '`CRM_OID`, failures that show no sign of a form, such as its fields, are not listed. Only forms of lambdas and endpoints ' +
      'that you can view are listed. A page can contain fewer forms than requested, even none, and still have a `next`.',
    query: {
      q: text('Search terms, all of which must match; `-` before a term excludes it', {
        examples: ['is:lost email:ada@example.com since:1h'],
      }),
      id: text('Only the form with this ID'),
      scope: uuid('Only below this organization, workspace or environment'),
      limit: countOr(100, 'Maximum number of results', 1, 1_000),
      before: position('`next` of the previous page', 1),
    },
    answer: ok(
      object('SentFormPage', {
        forms: z.array(form),
        next: z.int().optional().describe('`before` for the next page'),
        leads: z.int().describe('Number of leads and rejected forms that the mock CRM stores and you can view'),
      }),
    ),
  }),
});
