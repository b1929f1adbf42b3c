import { createInterface } from 'node:readline';
import type { InvocationView, OutboundCall } from '../api/routes/logs.ts';
import {
  type InvocationSummary,
  type RecordedRequest,
  type RecordedView,
  recordedRoutes,
} from '../api/routes/recorded.ts';
import { windowRoutes } from '../api/routes/window.ts';
import { isPlatformFrame } from '../model/failed-call.ts';
import { MOCK_TITLES } from '../model/invocation.ts';
import { jsonIn, memberOf } from '../model/json.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { type PlatformClient, Refusal } from './platform-client.ts';
import { printLines, type Style, styled, type Terminal } from './terminal.ts';

/** Maximum number of entries that are printed at once; older ones are skipped. */
const MAX_ENTRIES = 200;
const TARGET_WIDTH = 34;
const EXCERPT_CHARACTERS = 100;
const EVENT_CHARACTERS = 300;

/** A request to the gateway with the invocation behind it, or an invocation that no request to the gateway waits for. */
interface Entry {
  request?: RecordedRequest;
  invocation?: RecordedView;
  /** The message with which the gateway itself rejected the request. */
  rejection?: string | undefined;
}

/** Prints each request to the gateway, and below it the log and the outbound calls of its lambda, and each other invocation. */
export class RequestLog {
  /** Id of the newest invocation that was printed. */
  lastExecutionId: string | undefined;
  readonly #client: PlatformClient;
  readonly #terminal: Pick<Terminal, 'print' | 'hasColour'>;
  readonly #isJson: boolean;
  readonly #newest = { requests: 0, invocations: 0 };
  /** Invocations that go on after the response to their request. */
  readonly #unfinishedIds = new Set<string>();
  #nameWidth = 6;

  private constructor(client: PlatformClient, terminal: Pick<Terminal, 'print' | 'hasColour'>, isJson: boolean) {
    this.#client = client;
    this.#terminal = terminal;
    this.#isJson = isJson;
  }

  /** Prints what happens from now on, until the platform of this process stops. */
  static async start(
    client: PlatformClient,
    terminal: Pick<Terminal, 'print' | 'hasColour'>,
    { isJson = false }: { isJson?: boolean } = {},
  ): Promise<RequestLog> {
    const log = new RequestLog(client, terminal, isJson);
    await Promise.all([log.#readRequests(1), log.#readInvocations(1)]);
    followChanges(client, ['traffic', 'invocations'], () => log.#printNew()).catch((failure: unknown) => {
      if (!(failure instanceof ExitWith)) throw failure;
    });
    return log;
  }

  async #printNew(): Promise<void> {
    for (const request of await this.#readRequests(MAX_ENTRIES)) {
      const { executionId } = request;
      const invocation = executionId === undefined ? undefined : await this.#find(executionId);
      if (executionId !== undefined && !invocation) this.#unfinishedIds.add(executionId);
      const rejection = isRejected(request) ? await this.#messageOf(request) : undefined;
      // The result of an asynchronous invocation is a separate entry.
      this.#print({ request, rejection, ...(invocation?.trigger === 'gateway' && { invocation }) });
    }
    for (const { executionId, trigger } of await this.#readInvocations(MAX_ENTRIES)) {
      if (trigger === 'gateway' && !this.#unfinishedIds.delete(executionId)) continue;
      const invocation = await this.#find(executionId);
      if (invocation) this.#print({ invocation });
    }
  }

  async #readRequests(limit: number): Promise<RecordedRequest[]> {
    const query = { plane: 'gateway', limit: String(limit), after: String(this.#newest.requests) };
    const { requests, newest } = await this.#client.ask(recordedRoutes.listTraffic, { query });
    this.#newest.requests = newest;
    return requests.reverse();
  }

  async #readInvocations(limit: number): Promise<InvocationSummary[]> {
    const query = { limit: String(limit), after: String(this.#newest.invocations) };
    const { invocations, newest } = await this.#client.ask(recordedRoutes.listInvocations, { query });
    this.#newest.invocations = newest;
    return invocations.reverse();
  }

  #find(executionId: string): Promise<RecordedView | undefined> {
    return ifFound(this.#client.ask(recordedRoutes.readInvocation, { path: { execution_id: executionId } }));
  }

  async #messageOf({ seq }: RecordedRequest): Promise<string | undefined> {
    const path = { request_seq: String(seq) };
    const exchange = await ifFound(this.#client.ask(recordedRoutes.readRequest, { path }));
    const message = memberOf(jsonIn(exchange?.response?.body?.text ?? ''), 'message');
    return typeof message === 'string' ? message : undefined;
  }

  #print(entry: Entry): void {
    this.lastExecutionId = entry.invocation?.executionId ?? this.lastExecutionId;
    if (this.#isJson) {
      this.#terminal.print(JSON.stringify(jsonOf(entry)));
      return;
    }
    this.#nameWidth = Math.max(this.#nameWidth, entry.invocation?.lambdaName.length ?? 0);
    printLines(entryLines(entry, this.#nameWidth, this.#terminal), this.#terminal);
  }
}

/** Undefined for a record that has left the history. */
async function ifFound<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (failure) {
    if (failure instanceof Refusal && failure.status === 404) return undefined;
    throw failure;
  }
}

/** True for a request that the gateway answered itself: a container explains its own errors. */
function isRejected({ status = 0, executionId, upstreamMs }: RecordedRequest): boolean {
  return status >= 400 && executionId === undefined && upstreamMs === 0;
}

function jsonOf({ request, invocation, rejection }: Entry): object {
  const { method, target, status } = request ?? {};
  const { lambdaName: lambda, executionId, trigger, outcome, logs = [], outbound = [] } = invocation ?? {};
  const calls = outbound.map(({ request: _request, response: _response, ...call }) => call);
  const { at = invocation?.acceptedAt, durationMs = invocation?.durationMs } = request ?? {};
  const cause = { at, lambda, trigger, method, target };
  return { kind: 'request', ...cause, status, durationMs, executionId, outcome, rejection, logs, outbound: calls };
}

function* entryLines(
  { request, invocation, rejection = '' }: Entry,
  nameWidth: number,
  terminal: Pick<Terminal, 'hasColour'>,
) {
  const { outcome, logs = [], outbound = [] } = invocation ?? {};
  const isFailed = outcome?.ok === false || (request !== undefined && (request.status ?? 500) >= 500);
  const style = (name: Style, text: string) => styled(terminal, name, text);
  const { at = invocation?.acceptedAt ?? '', durationMs = invocation?.durationMs ?? 0 } = request ?? {};
  const name = (invocation?.lambdaName ?? '-').padEnd(nameWidth);
  // A client that hung up has its own line before; the result of its invocation follows.
  const cause = request ?? (invocation?.trigger === 'gateway' ? invocation.request : undefined);
  const action = cause ? `${cause.method} ${cause.target}` : `(${invocation?.trigger})`;
  const status = String(request ? (request.status ?? 'no response') : outcome?.ok ? 'ok' : outcome?.failure);
  const text = outcome?.ok ? resultText(outcome) : (outcome?.message ?? rejection);
  yield [
    `${style('dim', localTime(at).slice(-8))} ${style('bold', name)}`,
    action.padEnd(TARGET_WIDTH),
    `${isFailed ? style('red', status) : status} ${String(Math.round(durationMs)).padStart(5)} ms`,
    outcome?.ok === false ? style('red', excerptOf(text, EXCERPT_CHARACTERS)) : excerptOf(text, EXCERPT_CHARACTERS),
  ]
    .join('  ')
    .trimEnd();
  const indent = ' '.repeat('00:00:00 '.length + nameWidth);
  for (const line of logs) {
    if (isPlatformFrame(line.text) || line.text === `[terrarium] ${outcome?.failure}: ${outcome?.message}`) continue;
    yield `${indent}  ${line.stream === 'stderr' ? style('red', 'err') : 'log'}  ${line.text}`;
  }
  for (const call of outbound) yield `${indent}  out  ${outboundText(call)}`;
  const event = invocation?.event.body.text;
  if (outcome?.ok === false && event) yield `${indent}  event  ${excerptOf(event, EVENT_CHARACTERS)}`;
}

function resultText({ result }: InvocationView['outcome']): string {
  return result === undefined ? '' : typeof result === 'string' ? result : JSON.stringify(result);
}

function excerptOf(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}...` : text;
}

export function outboundText(call: OutboundCall): string {
  const { method, url, error, status, durationMs, connection, afterRedirect, caughtBy, rules } = call;
  const bytes = `${connection?.sentBytes ?? 0} bytes sent, ${connection?.receivedBytes ?? 0} received`;
  const end = `${method} ${url}: ${error ?? status ?? (connection?.transport === 'dns' ? 'looked up' : bytes)} in ${durationMs} ms`;
  if (afterRedirect) return `${end}, the page after the mock CRM's redirect`;
  if (caughtBy) return `${end}, caught by ${MOCK_TITLES[caughtBy]}`;
  return rules?.length ? `${end}, by the rule: ${rules.map(({ text }) => text).join(', ')}` : end;
}

const EVENT = 'event: ';

/** Calls `onChange` at the begin and, one call after the other, after each change of a topic. Throws ExitWith when the platform stops. */
export async function followChanges(
  client: PlatformClient,
  topics: readonly string[],
  onChange: () => Promise<void>,
): Promise<never> {
  const [method = '', path = ''] = windowRoutes.followEvents.route.split(' ');
  const options = { accept: 'text/event-stream', timeoutMs: Number.POSITIVE_INFINITY };
  const input = await client.stream(method.toUpperCase(), path, options);
  // An error of the stream has the same meaning as its end.
  input.on('error', () => {});
  const lines = createInterface({ input })[Symbol.asyncIterator]();
  for (;;) {
    const { done, value: line } = await lines.next().catch(() => ({ done: true, value: '' }));
    if (done) break;
    if (line.startsWith(EVENT) && ['hello', 'reset', ...topics].includes(line.slice(EVENT.length))) await onChange();
  }
  throw new ExitWith(NO, `the platform at ${client.baseUrl} has stopped`);
}

/** A moment as date and time of this machine's time zone. */
export function localTime(moment: string): string {
  const date = new Date(moment);
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')}`;
}
