import { jsonBody } from '../api/client/route-client.ts';
import { leadRoutes } from '../api/routes/leads.ts';
import { invokeRoutes } from '../api/routes/logs.ts';
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
  OutboundRules,
  StartEmulator,
  Terrarium,
  TerrariumOptions,
} from './api.ts';
import { check, invocationFilter, leadFilter, wait } from './arguments.ts';
import { Client, findLambda } from './client.ts';
import { deploy } from './deploy.ts';
import { coded, failure } from './failure.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Time that one request waits; the server's maximum. */
const WAIT_S = 60;
/** Number of invocations in a list. */
const MOST = 100;

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
