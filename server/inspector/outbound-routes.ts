import express, { type Router } from 'express';
import { readJson } from '../http/read-body.ts';
import { outboundRulesWish } from '../model/outbound-rule-schema.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldGuard } from './history-routes.ts';
import type { OutboundRules } from './outbound-rules.ts';

/**
 * What becomes of the calls that lambdas make (D-200), below `/inspect`:
 *
 * - `GET /outbound`: `{revision, rules, crm}`; `crm` is what the configuration says of calls to a CRM that no rule means.
 * - `PUT /outbound` `{rules, revision?}`: other rules hold from the next call on, in running lambdas too. Root only; 409 when
 *   they were changed since that revision.
 */
export function outboundRoutes(outbound: { rules: OutboundRules; crm: 'catch' | 'pass' }, guard: WorldGuard): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/outbound', (req, res) => {
    guard.viewer(req);
    res.json({ ...outbound.rules.kept, crm: outbound.crm });
  });
  router.put('/outbound', async (req, res) => {
    guard.root(req);
    const wish = parseWith(outboundRulesWish, await readJson(req), '');
    res.json({ ...(await outbound.rules.replace(wish)), crm: outbound.crm });
  });
  return router;
}
