import type { Router } from 'express';
import { leadRows } from '../contract/leads.ts';
import type { Arrivals } from '../http/arrivals.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { CrmStandIn } from './crm-stand-in.ts';
import { parseLeadFilter } from './lead.ts';

/** What waits for a lead waits for this. */
export const LEADS = 'leads';

/** Caught leads (D-200). */
export function leadRoutes(crm: CrmStandIn, arrivals: Arrivals, gate: Gate): Router {
  return serve(leadRows, gate, {
    listLeads({ caller, query: { waitS, ...filter }, res }) {
      // Asked anew each time: rights may come and go while somebody waits.
      const find = () => {
        const { sees } = eyesOf(gate, caller);
        return crm.listLeads(parseLeadFilter(filter)).filter(({ sender }) => sees(sender?.lambdaId));
      };
      return arrivals.look(find, (found) => found.length > 0, { topic: LEADS, waitS, res });
    },
    deleteLeads: async () => ({ deleted: await crm.deleteLeads() }),
    async deleteLead({ path }) {
      const id = parseUuid(path.lead_id);
      if (!(await crm.deleteLead(id))) throw new PlatformError(404, `lead ${id} not found`);
    },
  });
}
