import type { Router } from 'express';
import { outboundRoutes } from '../../api/routes/outbound.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { OutboundRules } from './outbound-rules.ts';

/** Settings for calls that match no rule. */
interface OutboundDefaults {
  default: 'pass' | 'block';
  crm: 'catch' | 'pass';
}

export function outboundRouter(rules: OutboundRules, defaults: OutboundDefaults, guard: RouteGuard): Router {
  return mountRoutes(outboundRoutes, guard, {
    readOutboundRules: () => ({ ...rules.kept(), ...defaults }),
    replaceOutboundRules: async ({ body }) => ({ ...(await rules.replace(body)), ...defaults }),
  });
}
