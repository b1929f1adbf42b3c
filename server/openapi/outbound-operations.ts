import { z } from 'zod';
import { SEES_ALL } from '../contract/right.ts';
import { NETWORK_ERRORS, OUTBOUND_ACTIONS } from '../model/outbound-rule.ts';
import { outboundRulesWish } from '../model/outbound-rule-schema.ts';
import { type Operation, ok, ref, rowsOf } from './operation.ts';

const outbound = rowsOf('Outbound calls');

/** What the routes about outbound calls are sent and answer. */
export const outboundSchemas = {
  OutboundRulesWish: outboundRulesWish,
  OutboundRules: z.object({
    revision: z.int(),
    crm: z.enum(['catch', 'pass']).describe('What the configuration says of calls to a CRM that no rule means'),
    rules: z.array(
      z.object({
        id: z.string(),
        host: z.string(),
        action: z.enum(OUTBOUND_ACTIONS),
        delayMs: z.int().optional(),
        status: z.int().optional(),
        error: z.enum(NETWORK_ERRORS).optional(),
        enabled: z.boolean(),
      }),
    ),
  }),
};

/** Rules about the calls that lambdas make to other hosts (D-200). */
export const outboundOperations: readonly Operation[] = [
  outbound('get /inspect/outbound', 'readOutboundRules', 'What becomes of the calls that lambdas make', {
    right: SEES_ALL,
    success: ok(ref('OutboundRules')),
    errors: [403],
  }),
  outbound('put /inspect/outbound', 'replaceOutboundRules', 'Let other rules hold', {
    right: 'root',
    description:
      'For the root user. The first enabled rule whose `host` meets a call decides: `catch` (the CRM stand-in answers), `pass`, ' +
      '`block`, `fail` (with a status or a network error); `delay` waits, and the rules below it go on deciding. They hold from ' +
      'the next call on, in lambdas that run as well.',
    body: { schema: ref('OutboundRulesWish') },
    success: ok(ref('OutboundRules')),
    errors: [403, 409, 503],
  }),
];
