import type { Router } from 'express';
import { outboundRows } from '../contract/outbound.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { OutboundRules } from './outbound-rules.ts';

/** What becomes of the calls that lambdas make (D-200). */
export function outboundRoutes(outbound: { rules: OutboundRules; crm: 'catch' | 'pass' }, gate: Gate): Router {
  return serve(outboundRows, gate, {
    readOutboundRules: () => ({ ...outbound.rules.kept(), crm: outbound.crm }),
    replaceOutboundRules: async ({ body }) => ({ ...(await outbound.rules.replace(body)), crm: outbound.crm }),
  });
}
