import { leadRoutes } from '../api/routes/leads.ts';
import type { Lead, LeadFilter, Leads } from './api.ts';
import { check, leadFilter, wait } from './arguments.ts';
import type { Client } from './client.ts';
import { failure } from './failure.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Time that one request waits; the server's maximum. */
const WAIT_S = 60;

export function leadsOf(client: Client): Leads {
  const list = async (filter: LeadFilter, waitS?: number): Promise<Lead[]> => {
    const leads = await client.ask(leadRoutes.listLeads, { query: queryOf(filter, waitS) });
    // Only rejected forms can lack the organization, and those are in another list.
    return leads.filter((lead): lead is typeof lead & { oid: string } => lead.oid !== undefined);
  };
  return {
    async list(filter = {}) {
      check('leads.list', leadFilter, filter);
      return await list(filter);
    },
    async waitFor(filter = {}, options = {}) {
      check('leads.waitFor', leadFilter, filter);
      check('leads.waitFor', wait, options);
      const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
      const untilMs = performance.now() + timeoutMs;
      for (;;) {
        const leftMs = untilMs - performance.now();
        const waitS = Math.min(WAIT_S, Math.max(0, Math.ceil(leftMs / 1000)));
        const newest = (await list(filter, waitS)).at(-1);
        if (newest) return newest;
        if (performance.now() >= untilMs)
          throw failure('TIMEOUT', `no lead${filterText(filter)} came within ${timeoutMs} ms`);
      }
    },
    clear: async () => (await client.ask(leadRoutes.deleteLeads)).deleted,
  };
}

function queryOf({ email, since }: LeadFilter, waitS: number | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (email !== undefined) query.set('email', email);
  if (since !== undefined) query.set('since', typeof since === 'string' ? since : since.toISOString());
  if (waitS !== undefined) query.set('waitS', String(waitS));
  return query;
}

function filterText({ email, since }: LeadFilter): string {
  const moment = since instanceof Date ? since.toISOString() : since;
  return `${email === undefined ? '' : ` of ${email}`}${moment === undefined ? '' : ` since ${moment}`}`;
}
