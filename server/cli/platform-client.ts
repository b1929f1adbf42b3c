import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import { RowClient, type Sent } from '../contract/row-client.ts';
import type { ErrorDetail } from '../model/errors.ts';
import { jsonIn } from '../model/json.ts';
import { reasonOf } from '../model/reason.ts';
import { USER_FAILURE } from './describe-failure.ts';
import { ExitWith, NO } from './exit-with.ts';

/** How long the platform may take to answer. */
const ANSWER_TIMEOUT_MS = 60_000;

/** An API key and its secret. */
export interface KeyPair {
  key: string;
  secret: string;
}

export interface Call extends Sent<string | Readable> {
  accept?: string;
  timeoutMs?: number;
}

/** Speaks to a running platform over HTTP. */
export class PlatformClient extends RowClient<Call> {
  readonly baseUrl: string;
  readonly #keyPair: () => KeyPair | undefined;

  /** @param keyPair undefined where no credentials are to be sent; may throw UserError */
  constructor(baseUrl: string, keyPair: () => KeyPair | undefined) {
    super();
    this.baseUrl = baseUrl;
    this.#keyPair = keyPair;
  }

  /**
   * @param path below `{base_url}`, with its query
   * @returns the body of the answer
   * @throws Refusal; ExitWith with a sentence when nobody answers
   */
  async text(method: string, path: string, call: Call = {}): Promise<string> {
    return whole(await this.stream(method, path, call));
  }

  /** The same, with the body as it comes. */
  async stream(method: string, path: string, call: Call = {}): Promise<IncomingMessage> {
    const url = `${this.baseUrl}${path}`;
    const pair = this.#keyPair();
    const headers = {
      Accept: call.accept ?? 'application/json',
      'X-Terrarium-Client': 'cli',
      ...(pair && { Authorization: `Basic ${Buffer.from(`${pair.key}:${pair.secret}`).toString('base64')}` }),
      ...(call.body && { 'Content-Type': call.body.type }),
    };
    const response = await send(method, url, headers, call);
    const { statusCode: status = 0 } = response;
    if (status < 400) return response;
    throw new Refusal(status, await whole(response), `${method} ${url}`);
  }

  protected notUnderstood(reason: string): ExitWith {
    return new ExitWith(NO, reason);
  }
}

async function whole(response: IncomingMessage): Promise<string> {
  try {
    return await readText(response);
  } catch (failure) {
    throw brokenOff(failure);
  }
}

/** What to throw when an answer ends before it is complete. */
export function brokenOff(failure: unknown): ExitWith {
  return new ExitWith(NO, `the answer of the platform broke off: ${reasonOf(failure)}`);
}

async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  { body, timeoutMs = ANSWER_TIMEOUT_MS }: Call,
): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  const outgoing = request(url, { method, headers, signal: AbortSignal.timeout(timeoutMs) });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  });
  try {
    // What goes wrong is an event of the request, too.
    if (body && typeof body.content !== 'string') pipeline(body.content, outgoing, () => {});
    else outgoing.end(body?.content);
    return await answered;
  } catch (failure) {
    throw new ExitWith(NO, `${url} does not answer: ${transportReason(failure, timeoutMs)}`);
  }
}

function transportReason(failure: unknown, timeoutMs: number): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure.name === 'TimeoutError' || failure.name === 'AbortError')
    return `nothing came within ${timeoutMs / 1000} s`;
  if (!('code' in failure)) return failure.message;
  if (failure.code === 'ECONNREFUSED') return 'nothing listens there';
  return failure.message || String(failure.code);
}

/** What the platform says of a request that it does not fulfil (D-180, D-171). */
export class Refusal extends ExitWith {
  /** HTTP status. */
  readonly status: number;
  readonly details: readonly ErrorDetail[];

  constructor(status: number, text: string, request: string) {
    const { message = 'refused', details = [] } = refusalSchema.safeParse(jsonIn(text)).data ?? {};
    const advice =
      status === 401 ? '; give the right --key and --secret, or TERRARIUM_API_KEY and TERRARIUM_API_SECRET' : '';
    super(status < 500 ? USER_FAILURE : NO, `${message}${advice} (${request}: ${status})`);
    this.status = status;
    this.details = details;
  }
}

const refusalSchema = z
  .object({
    message: z.string().optional(),
    error_description: z.string().optional(),
    details: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
  })
  .transform(({ message, error_description, details }) => ({ message: message ?? error_description, details }));
