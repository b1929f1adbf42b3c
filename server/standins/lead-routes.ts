import type { Router } from 'express';
import { leadRows, type ShownLead } from '../contract/leads.ts';
import type { QueryOf } from '../contract/row.ts';
import type { Arrivals } from '../http/arrivals.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';

/** What waits for a lead waits for this. */
export const LEADS = 'leads';

/** The texts that leads are looked for by. */
type LeadFilter = Omit<QueryOf<typeof leadRows.listLeads>, 'waitS'>;

/** The leads that were caught. */
export interface LeadDesk {
  /** Oldest first; throws 400 for a filter that makes no sense. */
  list(filter: LeadFilter): readonly ShownLead[];
  /** Resolves to whether there was one of this id. */
  delete(id: string): Promise<boolean>;
  /** Resolves to how many there were. */
  deleteAll(): Promise<number>;
}

/** Caught leads (D-200). */
export function leadRoutes(leads: () => LeadDesk, arrivals: Arrivals, gate: Gate): Router {
  return serve(leadRows, gate, {
    listLeads({ caller, query: { waitS, ...filter }, res }) {
      // Asked anew each time: rights may come and go while somebody waits.
      const find = () => {
        const { sees } = eyesOf(gate, caller);
        return leads()
          .list(filter)
          .filter(({ sender }) => sees(sender?.lambdaId));
      };
      return arrivals.look(find, (found) => found.length > 0, { topic: LEADS, waitS, res });
    },
    deleteLeads: async () => ({ deleted: await leads().deleteAll() }),
    async deleteLead({ path }) {
      const id = parseUuid(path.lead_id);
      if (!(await leads().delete(id))) throw new PlatformError(404, `lead ${id} not found`);
    },
  });
}
