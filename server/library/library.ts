import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { jsonBody } from '../api/client/route-client.ts';
import { clockRoutes, faultRoutes } from '../api/routes/faults.ts';
import { leadRoutes } from '../api/routes/leads.ts';
import { invokeRoutes, logRoutes } from '../api/routes/logs.ts';
import { mailRoutes } from '../api/routes/mails.ts';
import { outboundRoutes } from '../api/routes/outbound.ts';
import { recordedRoutes } from '../api/routes/recorded.ts';
import { seedRoutes } from '../api/routes/seeds.ts';
import { isPlatformFrame } from '../model/failed-call.ts';
import { OWN_CRM } from '../model/outbound-rule.ts';
import { type EmbeddedEmulator, startEmulator as startPlatform } from '../platform/emulator.ts';
import type {
  AppliedWorld,
  Clock,
  Faults,
  Invocation,
  InvocationFilter,
  Invocations,
  Lead,
  LeadFilter,
  Leads,
  MailFilter,
  Mails,
  OutboundRule,
  OutboundRules,
  RecordedInvocation,
  StartEmulator,
  Terrarium,
  TerrariumOptions,
  World,
} from './api.ts';
import { check, coded, failure, invocationFilter, knownHooks, leadFilter, mailFilter, wait } from './arguments.ts';
import { Client, findLambda } from './client.ts';
import { deploy } from './deploy.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Time that one request waits; the server's maximum. */
const WAIT_S = 60;
/** Number of invocations in a list. */
const MOST = 100;
/** Number of failures, and of log lines of each, in the error of a wait. */
const MAX_EXPLAINED = 3;
const POLL_MS = 50;
/** Number of mails in a list; the server's maximum. */
const MAX_MAILS = 1_000;

export const startEmulator: StartEmulator = async (options = {}, hooks = {}) => {
  if (Object(options) !== options)
    throw failure('SETTING', "startEmulator: the options must be an object, such as { seed: 'demo' }");
  check('startEmulator', knownHooks, hooks);
  const { seed, ...settings } = options;
  const start = () => {
    if (typeof seed === 'object') return startPlatform({ ...settings, seed: 'empty' }, { ...hooks, seed });
    return startPlatform(seed === undefined ? settings : { ...settings, seed }, hooks);
  };
  const emulator = await coded(start);
  return terrarium(emulator, options);
};

function terrarium(emulator: EmbeddedEmulator, { rootApiSecret = '' }: TerrariumOptions): Terrarium {
  const { testService, stop: _, ...facts } = emulator;
  const { apiKey, apiSecret = rootApiSecret } = emulator.rootCredentials;
  const client = new Client(emulator.baseUrl, { key: apiKey, secret: apiSecret });
  /** Position of the newest invocation before the last reset. */
  let before = 0;
  const failures = () => recentFailures(client, before);
  const stop = () => {
    client.stop();
    return emulator.stop();
  };
  return {
    ...facts,
    async reset() {
      before = await coded(() => testService.reset());
    },
    baseline: () => coded(async () => testService.baseline()),
    apply: (world) => apply(client, world),
    request: (method, path, body) => client.reply(method, path, body),
    token: (username = 'root') => coded(() => testService.token(username)),
    apiKey: (username = 'root') => coded(() => testService.apiKey(username)),
    // `as`: the result has a URL if the source has an endpoint.
    deploy: ((lambda, source) => deploy(client, lambda, source)) as Terrarium['deploy'],
    async invoke(named, event): Promise<Invocation> {
      const id = await findLambda(client, named);
      return client.ask(invokeRoutes.invokeLambda, {
        path: { lambda_id: id },
        ...(event !== undefined && jsonBody(event)),
      });
    },
    async logs(named) {
      const path = { resource_id: await findLambda(client, named) };
      return (await client.ask(logRoutes.readOnInLog, { path })).lines;
    },
    leads: leadsOf(client, failures),
    mails: mailsOf(client, failures),
    outbound: outboundOf(client),
    faults: faultsOf(client),
    clock: clockOf(client),
    invocations: invocationsOf(client, () => before, failures),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function apply(client: Client, world: string | World): Promise<AppliedWorld> {
  const read = async (file: string) => (await import('../platform/seed-files.ts')).readSeedFileForApply(resolve(file));
  const document = typeof world === 'string' ? (await coded(() => read(world))).document : world;
  const { summary, commit } = await client.ask(seedRoutes.applySeed, jsonBody(document));
  return { summary, commit };
}

/** Repeats a search until it finds something. Rejects with `TIMEOUT`, what was missing (`no lead came`), and what failed before. */
async function waitFor<T>(
  search: (waitS: number) => Promise<T | undefined>,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: { timeoutMs?: number },
  missing: string,
  failures: () => Promise<string>,
): Promise<T> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const leftMs = untilMs - performance.now();
    const result = await search(Math.min(WAIT_S, Math.max(0, Math.ceil(leftMs / 1000))));
    if (result !== undefined) return result;
    if (performance.now() >= untilMs) throw failure('TIMEOUT', `${missing} within ${timeoutMs} ms${await failures()}`);
  }
}

function leadsOf(client: Client, failures: () => Promise<string>): Leads {
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
      const search = async (waitS: number) => (await list(filter, waitS)).at(-1);
      return waitFor(search, options, `no lead${filterText(filter)} came`, failures);
    },
    clear: async () => (await client.ask(leadRoutes.deleteLeads)).deleted,
  };
}

/** Sentences about the newest failed invocations and rejected forms, each with the end of its log; empty if there are none. */
async function recentFailures(client: Client, after: number): Promise<string> {
  const failed = await listInvocations(client, after, { ok: false }, MAX_EXPLAINED);
  const forms = await client.ask(leadRoutes.listLeads, { query: new URLSearchParams({ refused: 'true' }) });
  const sentences = [
    ...failed.map(({ lambdaName, outcome, logs }) => {
      const { message = '' } = outcome;
      const lines = logs.filter(({ text }) => (message === '' || !text.includes(message)) && !isPlatformFrame(text));
      const end = lines.slice(-MAX_EXPLAINED).map(({ text }) => `\n    ${text.trim()}`);
      return `\n  ${lambdaName} failed (${outcome.failure}): ${message}${end.join('')}`;
    }),
    ...forms.slice(-MAX_EXPLAINED).map(({ refused }) => `\n  the mock CRM rejected a form: ${refused?.message}`),
  ];
  return sentences.length === 0 ? '' : `. Before that:${sentences.join('')}`;
}

function mailsOf(client: Client, failures: () => Promise<string>): Mails {
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
      const search = async (waitS: number) => (await list(filter, 1, waitS)).at(-1);
      const { id } = await waitFor(search, options, `no mail${filterText(filter)} came`, failures);
      return await client.ask(mailRoutes.readMail, { path: { mail_id: id } });
    },
    clear: async () => (await client.ask(mailRoutes.deleteMails)).deleted,
  };
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

/** @param after position: only later invocations @param most the largest number of them */
async function listInvocations(
  client: Client,
  after: number,
  filter: InvocationFilter,
  most: number,
): Promise<RecordedInvocation[]> {
  const lambda = filter.lambda === undefined ? {} : { lambda: await findLambda(client, filter.lambda) };
  const invocations: RecordedInvocation[] = [];
  for (let before: number | undefined; ; ) {
    const bounds = { after: String(after), ...(before !== undefined && { before: String(before) }) };
    const query = new URLSearchParams({ ...lambda, ...bounds });
    const page = await client.ask(recordedRoutes.listInvocations, { query });
    for (const summary of page.invocations) {
      if (filter.ok !== undefined && summary.outcome.ok !== filter.ok) continue;
      if (filter.trigger !== undefined && summary.trigger !== filter.trigger) continue;
      const path = { execution_id: summary.executionId };
      invocations.push(await client.ask(recordedRoutes.readInvocation, { path }));
      if (invocations.length === most) return invocations;
    }
    if (page.next === undefined) return invocations;
    before = page.next;
  }
}

/** The recorded invocations of a platform. @param after returns the position after which they are listed */
function invocationsOf(client: Client, after: () => number, failures: () => Promise<string>): Invocations {
  const list = (filter: InvocationFilter, most: number) => listInvocations(client, after(), filter, most);
  return {
    async find(filter = {}) {
      check('invocations.find', invocationFilter, filter);
      return (await list(filter, 1))[0];
    },
    async list(filter = {}) {
      check('invocations.list', invocationFilter, filter);
      return await list(filter, MOST);
    },
    async waitFor(filter = {}, options = {}) {
      check('invocations.waitFor', invocationFilter, filter);
      check('invocations.waitFor', wait, options);
      const search = async () => {
        const [newest] = await list(filter, 1);
        if (!newest) await setTimeout(POLL_MS);
        return newest;
      };
      return waitFor(search, options, `no invocation matched ${JSON.stringify(filter)}`, failures);
    },
  };
}

function outboundOf(client: Client): OutboundRules {
  const read = () => client.ask(outboundRoutes.readOutboundRules);
  let added: Promise<unknown> = Promise.resolve();
  /** Adds a rule before another one. One at a time, because each addition replaces the rules that it has read. */
  const insert = (rule: OutboundRule, findIndex: (rules: readonly OutboundRule[]) => number): Promise<void> => {
    const addition = added.then(async () => {
      const { rules, revision } = await read();
      const index = findIndex(rules);
      const newRules = [...rules.slice(0, index), rule, ...rules.slice(index)];
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: newRules, revision }));
    });
    added = addition.catch(() => {});
    return addition;
  };
  return {
    list: async () => (await read()).rules,
    add: (rule) => insert(rule, () => 0),
    once(named, answer) {
      const host = named === 'crm' ? OWN_CRM : named;
      return insert({ ...answer, host, action: 'answer', times: 1 }, (rules) => indexAfterAnswers(rules, host));
    },
    async clear() {
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [] }));
    },
  };
}

/** The index after the answers for a host that apply once, among those before all other rules. */
function indexAfterAnswers(rules: readonly OutboundRule[], answeredHost: string): number {
  const end = rules.findIndex(({ action, times }) => action !== 'answer' || times !== 1);
  const answers = end === -1 ? rules : rules.slice(0, end);
  return answers.map(({ host }) => host).lastIndexOf(answeredHost) + 1;
}

function faultsOf(client: Client): Faults {
  return {
    list: () => client.ask(faultRoutes.listFaults),
    add: (rule) => client.ask(faultRoutes.createFault, jsonBody(rule)),
    async remove(id) {
      await client.ask(faultRoutes.deleteFault, { path: { fault_id: id } });
    },
    clear: async () => (await client.ask(faultRoutes.deleteFaults)).deleted,
  };
}

function clockOf(client: Client): Clock {
  const dateIn = ({ now }: { now: string }) => new Date(now);
  return {
    now: async () => dateIn(await client.ask(clockRoutes.readClock)),
    advance: async (time) => dateIn(await client.ask(clockRoutes.advanceClock, jsonBody({ advance: time }))),
    async reset() {
      await client.ask(clockRoutes.resetClock);
    },
  };
}
