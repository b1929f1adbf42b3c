import { z } from 'zod';
import { NETWORK_ERRORS, OUTBOUND_ACTIONS } from '../model/outbound-rule.ts';
import { outboundRulesRequest } from '../model/outbound-rule-schema.ts';
import { named } from './named.ts';
import { json, ok, rowsOf } from './row.ts';

const outboundRules = named(
  'OutboundRules',
  z.object({
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
);

/** Rules about the calls that lambdas make to other hosts (D-200). */
export const outboundRows = rowsOf('Outbound calls', {
  readOutboundRules: {
    route: 'get /inspect/outbound',
    summary: 'What becomes of the calls that lambdas make',
    right: 'caller',
    answer: ok(outboundRules),
  },
  replaceOutboundRules: {
    route: 'put /inspect/outbound',
    summary: 'Let other rules hold',
    description:
      'For the root user. The first enabled rule whose `host` meets a call decides: `catch` (the CRM stand-in answers), `pass`, ' +
      '`block`, `fail` (with a status or a network error); `delay` waits, and the rules below it go on deciding. They hold from ' +
      'the next call on, in lambdas that run as well.',
    right: 'root',
    body: json(named('OutboundRulesRequest', outboundRulesRequest)),
    answer: ok(outboundRules),
    errors: [409, 503],
  },
});
