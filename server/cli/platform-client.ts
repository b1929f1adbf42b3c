import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { z } from 'zod';
import type { AnswerOf, BodyOf, PathOf, Row } from '../contract/row.ts';
import type { ErrorDetail } from '../model/errors.ts';
import { jsonIn } from '../model/json.ts';
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
  body?: { type: string; content: string | Readable };
  accept?: string;
  timeoutMs?: number;
}

/** What a route is sent. */
interface Wish<R extends Omit<Row, 'tag'>> extends Call {
  path?: PathOf<R>;
  query?: URLSearchParams | Readonly<Record<string, string>>;
  /** As JSON. */
  json?: BodyOf<R> extends object ? z.input<NonNullable<R['body']>['schema']> : never;
}

/** Speaks to a running platform over HTTP. */
export class PlatformClient {
  readonly baseUrl: string;
  readonly #keyPair: () => KeyPair | undefined;

  /** @param keyPair undefined where no credentials are to be sent; may throw UserError */
  constructor(baseUrl: string, keyPair: () => KeyPair | undefined) {
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

  /**
   * What a route of the contract answers, held against its row.
   *
   * @throws as `json`
   */
  async ask<R extends Omit<Row, 'tag'>>(row: R, wish: Wish<R> = {}): Promise<AnswerOf<R>> {
    const { path: names = {}, query, json, ...call } = wish;
    const [verb = '', pattern = ''] = row.route.split(' ');
    const path = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(Object(names)[name]));
    const address = query === undefined ? path : `${path}?${new URLSearchParams(query)}`;
    const answer = jsonIn(await this.text(verb.toUpperCase(), address, { ...call, ...(json && asJson(json)) }));
    if (isAnswer(row, answer)) return answer;
    throw this.#notUnderstood(path);
  }

  /**
   * The JSON that a call is answered with.
   *
   * @param schema what of it is used; loose, where all of it is to be printed
   * @throws as `text`, and ExitWith when the answer is another one
   */
  async json<T>(method: string, path: string, schema: z.ZodType<T>, call: Call = {}): Promise<T> {
    const { success, data } = schema.safeParse(jsonIn(await this.text(method, path, call)));
    if (success) return data;
    throw this.#notUnderstood(path);
  }

  #notUnderstood(path: string): ExitWith {
    return new ExitWith(
      NO,
      `${this.baseUrl}${path} answers what this version does not understand: is it a Terrarium, and of the same version?`,
    );
  }
}

function asJson(content: unknown): Pick<Required<Call>, 'body'> {
  return { body: { type: 'application/json', content: JSON.stringify(content) } };
}

function isAnswer<R extends Omit<Row, 'tag'>>({ answer }: R, value: unknown): value is AnswerOf<R> {
  return answer?.schema?.safeParse(value).success ?? true;
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
  return new ExitWith(
    NO,
    `the answer of the platform broke off: ${failure instanceof Error ? failure.message : failure}`,
  );
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
