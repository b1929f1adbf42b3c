import type { Router } from 'express';
import { outboundRoutes } from '../../api/routes/outbound.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { OutboundRules } from './outbound-rules.ts';

export function outboundRouter(outbound: { rules: OutboundRules; crm: 'catch' | 'pass' }, guard: RouteGuard): Router {
  return mountRoutes(outboundRoutes, guard, {
    readOutboundRules: () => ({ ...outbound.rules.kept(), crm: outbound.crm }),
    replaceOutboundRules: async ({ body }) => ({ ...(await outbound.rules.replace(body)), crm: outbound.crm }),
  });
}
