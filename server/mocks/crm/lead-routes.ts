import type { Router } from 'express';
import { leadRoutes } from '../../api/routes/leads.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Notifier } from '../../api/server/notifier.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import { PlatformError } from '../../model/errors.ts';
import { parseUuid } from '../../model/record.ts';
import { LEADS } from './lead.ts';
import type { MockCrm } from './mock-crm.ts';

export function leadRouter(crm: MockCrm, notifier: Notifier, guard: RouteGuard): Router {
  return mountRoutes(leadRoutes, guard, {
    listLeads({
      caller,
      query: { waitS, email, since: sinceMs, execution: executionId, refused: isRefused },
      requireAccess,
      res,
    }) {
      // Checked each time, because permissions can change during the wait.
      const find = () => {
        const { sees } = visibilityFor(guard, caller);
        const deliveries = crm.deliveries();
        return crm
          .listLeads({ email, sinceMs, executionId, isRefused })
          .filter(({ sender }) => sees(sender?.lambdaId))
          .map((form) => ({ ...form, ...deliveries.get(form.id) }));
      };
      return notifier.waitFor(find, (found) => found.length > 0, { topic: LEADS, waitS, requireAccess, res });
    },
    deleteLeads: async () => ({ deleted: await crm.deleteLeads() }),
    async deleteLead({ path }) {
      const id = parseUuid(path.lead_id);
      if (!(await crm.deleteLead(id))) throw new PlatformError('not_found', `lead ${id} not found`);
    },
  });
}
