import { z } from 'zod';
import type { Json } from '../../model/json.ts';
import { NETWORK_ERRORS, OUTBOUND_ACTIONS } from '../../model/outbound-rule.ts';
import { outboundRulesRequest } from '../../model/outbound-rules-request.ts';
import { named, object } from '../schemas/parts.ts';
import { defineRoutes, json, ok, route } from './route.ts';

const outboundRules = object('OutboundRules', {
  revision: z.int(),
  default: z.enum(['pass', 'block']).describe('Action for calls to hosts outside this machine that match no rule'),
  crm: z.enum(['catch', 'pass']).describe('Action for calls to a CRM host that match no rule'),
  rules: z.array(
    z.object({
      id: z.string(),
      host: z.string(),
      action: z.enum(OUTBOUND_ACTIONS),
      delayMs: z.int().optional(),
      status: z.int().optional(),
      error: z.enum(NETWORK_ERRORS).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.custom<Json>().optional(),
      file: z.string().optional(),
      times: z.int().optional(),
      after: z.int().optional(),
      enabled: z.boolean(),
    }),
  ),
});

/** Rules about the calls that lambdas make to other hosts (D-200). */
export const outboundRoutes = defineRoutes('Outbound calls', {
  readOutboundRules: route('get /inspect/outbound', 'caller', {
    summary: 'List rules for outbound calls',
    answer: ok(outboundRules),
  }),
  replaceOutboundRules: route('put /inspect/outbound', 'root', {
    summary: 'Replace the rules for outbound calls',
    description:
      'The first enabled rule whose `host` matches decides the call: `catch` (the mock CRM responds), `pass`, ' +
      '`block`, `fail` (with a status or a network error) or `answer` (with a response of your own; `times` and `after` count the ' +
      'calls of all lambdas since the rule was changed). A `delay` rule waits, then the following rules apply. Changes apply ' +
      'to the next call, including calls of running lambdas.',
    body: json(named('OutboundRulesRequest', outboundRulesRequest), {
      rules: [{ host: 'api.example.com', action: 'fail', status: 503 }],
    }),
    answer: ok(outboundRules),
    errors: [409],
  }),
});
