import { jsonBody } from '../api/client/route-client.ts';
import { leadRoutes } from '../api/routes/leads.ts';
import { invokeRoutes } from '../api/routes/logs.ts';
import { mailRoutes } from '../api/routes/mails.ts';
import { outboundRoutes } from '../api/routes/outbound.ts';
import { type InvocationSummary, recordedRoutes } from '../api/routes/recorded.ts';
import { type EmbeddedEmulator, startEmulator as startPlatform } from '../platform/emulator.ts';
import type {
  Invocation,
  InvocationFilter,
  Invocations,
  Lead,
  LeadFilter,
  Leads,
  MailFilter,
  Mails,
  OutboundRules,
  StartEmulator,
  Terrarium,
  TerrariumOptions,
} from './api.ts';
import { check, invocationFilter, leadFilter, mailFilter, wait } from './arguments.ts';
import { Client, findLambda } from './client.ts';
import { deploy } from './deploy.ts';
import { coded, failure } from './failure.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Time that one request waits; the server's maximum. */
const WAIT_S = 60;
/** Number of invocations in a list. */
const MOST = 100;
/** Number of mails in a list; the server's maximum. */
const MAX_MAILS = 1_000;

export const startEmulator: StartEmulator = async (options = {}, { onWarning, onFault } = {}) => {
  const { seed, ...settings } = options;
  const seedSetting = typeof seed === 'object' ? { seed: 'empty' } : seed === undefined ? {} : { seed };
  const hooks = {
    ...(typeof seed === 'object' && { seed }),
    ...(onWarning && { onWarning }),
    ...(onFault && { onFault }),
  };
  const emulator = await coded(() => startPlatform({ ...settings, ...seedSetting }, hooks));
  return terrarium(emulator, options);
};

function terrarium(emulator: EmbeddedEmulator, { rootApiSecret = '' }: TerrariumOptions): Terrarium {
  const { testService, stop: _, ...facts } = emulator;
  const { apiKey, apiSecret = rootApiSecret } = emulator.rootCredentials;
  const client = new Client(emulator.baseUrl, { key: apiKey, secret: apiSecret });
  /** Position of the newest invocation before the last reset. */
  let before = 0;
  const stop = () => {
    client.stop();
    return emulator.stop();
  };
  return {
    ...facts,
    async reset() {
      before = await coded(() => testService.reset());
    },
    token: (username = 'root') => coded(() => testService.token(username)),
    apiKey: (username = 'root') => coded(() => testService.apiKey(username)),
    deploy: (lambda, source) => deploy(client, lambda, source),
    async invoke(named, event): Promise<Invocation> {
      const id = await findLambda(client, named);
      return client.ask(invokeRoutes.invokeLambda, {
        path: { lambda_id: id },
        ...(event !== undefined && jsonBody(event)),
      });
    },
    leads: leadsOf(client),
    mails: mailsOf(client),
    outbound: outboundOf(client),
    invocations: invocationsOf(client, () => before),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function leadsOf(client: Client): Leads {
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
      return await newest((waitS) => list(filter, waitS), options, `no lead${filterText(filter)}`);
    },
    clear: async () => (await client.ask(leadRoutes.deleteLeads)).deleted,
  };
}

function mailsOf(client: Client): Mails {
  const list = (filter: MailFilter, limit: number, waitS?: number) => {
    const query = queryOf(filter, waitS);
    query.set('limit', String(limit));
    return client.ask(mailRoutes.listMails, { query });
  };
  return {
    async list(filter = {}) {
      check('mails.list', mailFilter, filter);
      return await list(filter, MAX_MAILS);
    },
    async waitFor(filter = {}, options = {}) {
      check('mails.waitFor', mailFilter, filter);
      check('mails.waitFor', wait, options);
      const { id } = await newest((waitS) => list(filter, 1, waitS), options, `no mail${filterText(filter)}`);
      return await client.ask(mailRoutes.readMail, { path: { mail_id: id } });
    },
    clear: async () => (await client.ask(mailRoutes.deleteMails)).deleted,
  };
}

/** Returns the newest item of a list, or waits for the first one. Rejects with `TIMEOUT`. @param list waits up to that time on the server */
async function newest<T>(
  list: (waitS: number) => Promise<T[]>,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: { timeoutMs?: number },
  missing: string,
): Promise<T> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const leftMs = untilMs - performance.now();
    const item = (await list(Math.min(WAIT_S, Math.max(0, Math.ceil(leftMs / 1000))))).at(-1);
    if (item !== undefined) return item;
    if (performance.now() >= untilMs) throw failure('TIMEOUT', `${missing} came within ${timeoutMs} ms`);
  }
}

const timeText = (time: Date | string) => (typeof time === 'string' ? time : time.toISOString());

/** The filter as parameters of a route, which have the same names. */
function queryOf(filter: LeadFilter | MailFilter, waitS: number | undefined): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, timeText(value));
  if (waitS !== undefined) query.set('waitS', String(waitS));
  return query;
}

const PREPOSITIONS = { email: 'of', to: 'to', subject: 'with subject', since: 'since' };

function filterText(filter: LeadFilter | MailFilter): string {
  const values = new Map<string, Date | string | undefined>(Object.entries(filter));
  return Object.entries(PREPOSITIONS)
    .map(([name, preposition]) => {
      const value = values.get(name);
      return value === undefined ? '' : ` ${preposition} ${timeText(value)}`;
    })
    .join('');
}

/** The recorded invocations of a platform. @param after only those after this position */
function invocationsOf(client: Client, after: () => number): Invocations {
  const list = async (filter: InvocationFilter, most: number): Promise<Invocation[]> => {
    const lambda = filter.lambda === undefined ? {} : { lambda: await findLambda(client, filter.lambda) };
    const found: Invocation[] = [];
    for (let before: number | undefined; ; ) {
      const bounds = { after: String(after()), ...(before !== undefined && { before: String(before) }) };
      const query = new URLSearchParams({ ...lambda, ...bounds });
      const { invocations, next } = await client.ask(recordedRoutes.listInvocations, { query });
      for (const summary of invocations) {
        if (!matches(summary, filter)) continue;
        found.push(await client.ask(recordedRoutes.readInvocation, { path: { execution_id: summary.executionId } }));
        if (found.length === most) return found;
      }
      if (next === undefined) return found;
      before = next;
    }
  };
  return {
    async find(filter = {}) {
      check('invocations.find', invocationFilter, filter);
      return (await list(filter, 1))[0];
    },
    async list(filter = {}) {
      check('invocations.list', invocationFilter, filter);
      return await list(filter, MOST);
    },
  };
}

function matches(
  { trigger, outcome }: Pick<InvocationSummary, 'trigger' | 'outcome'>,
  filter: InvocationFilter,
): boolean {
  return (
    (filter.ok === undefined || outcome.ok === filter.ok) &&
    (filter.trigger === undefined || trigger === filter.trigger)
  );
}

function outboundOf(client: Client): OutboundRules {
  const read = () => client.ask(outboundRoutes.readOutboundRules);
  return {
    list: async () => (await read()).rules,
    async add(rule) {
      const { rules, revision } = await read();
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [rule, ...rules], revision }));
    },
    async clear() {
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [] }));
    },
  };
}
