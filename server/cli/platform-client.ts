import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import type { ErrorDetail } from '../model/errors.ts';
import { USER_FAILURE } from './describe-failure.ts';
import { ExitWith, NO } from './exit-with.ts';

/** How long the platform may take to answer. */
const ANSWER_TIMEOUT_MS = 60_000;

/** An API key and its secret. */
export interface KeyPair {
  key: string;
  secret: string;
}

export interface Call {
  body?: { type: string; text: string };
  accept?: string;
  /** Statuses besides those below 400 that are no refusal. */
  alsoExpected?: readonly number[];
  timeoutMs?: number;
}

export interface Answer {
  status: number;
  text: string;
}

/** Speaks to a running platform over HTTP. */
export class PlatformClient {
  readonly baseUrl: string;
  readonly #keyPair: () => KeyPair | undefined;

  /** @param keyPair undefined where no credentials are to be sent; throws UserError when there should be some */
  constructor(baseUrl: string, keyPair: () => KeyPair | undefined) {
    this.baseUrl = baseUrl;
    this.#keyPair = keyPair;
  }

  /**
   * @param path below `{base_url}`, with its query
   * @throws Refusal; ExitWith with a sentence when nobody answers
   */
  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const url = `${this.baseUrl}${path}`;
    const pair = this.#keyPair();
    const headers = {
      Accept: call.accept ?? 'application/json',
      ...(pair && { Authorization: `Basic ${Buffer.from(`${pair.key}:${pair.secret}`).toString('base64')}` }),
      ...(call.body && { 'Content-Type': call.body.type }),
    };
    const answer = await exchange(method, url, headers, call);
    if (answer.status < 400 || call.alsoExpected?.includes(answer.status)) return answer;
    throw new Refusal(answer, `${method} ${url}`);
  }

  /**
   * The JSON that a call is answered with.
   *
   * @param schema what of it is used; loose, where all of it is to be printed
   * @throws as `call`, and ExitWith when the answer is another one
   */
  async json<T>(method: string, path: string, schema: z.ZodType<T>, call: Call = {}): Promise<T> {
    const { text } = await this.call(method, path, call);
    const { success, data } = schema.safeParse(parsed(text));
    if (success) return data;
    throw new ExitWith(
      NO,
      `${this.baseUrl}${path} answers what this version does not understand: is it a Terrarium, and of the same version?`,
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function exchange(method: string, url: string, headers: Record<string, string>, call: Call): Promise<Answer> {
  const { timeoutMs = ANSWER_TIMEOUT_MS } = call;
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers, signal: AbortSignal.timeout(timeoutMs) };
      send(url, options, resolve).on('error', reject).end(call.body?.text);
    });
    return { status: response.statusCode ?? 0, text: await readText(response) };
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
  readonly details: readonly ErrorDetail[];

  constructor({ status, text }: Answer, request: string) {
    const { message = 'refused', details = [] } = refusalSchema.safeParse(parsed(text)).data ?? {};
    super(status < 500 ? USER_FAILURE : NO, `${message} (${request}: ${status})`);
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
