import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import { jsonIn } from '../../model/json.ts';
import type { AnswerOf, BodyOf, PathOf, Route } from '../routes/route.ts';
import { type requestText, sendRequest, within } from './send-request.ts';

type AnyRow = Omit<Route, 'tag'>;

export interface KeyPair {
  key: string;
  secret: string;
}

export interface Call {
  body?: { type: string; content: string | Readable };
  accept?: string;
  timeoutMs?: number;
}

export type RouteCall<R extends AnyRow> = Call & {
  path?: PathOf<R>;
  query?: URLSearchParams | Readonly<Record<string, string>>;
  json?: BodyOf<R> extends object ? z.input<NonNullable<R['body']>['schema']> : never;
};

export interface RefusedCall extends Omit<Awaited<ReturnType<typeof requestText>>, 'headers' | 'rawHeaders'> {
  method: string;
  /** Below `{base_url}`. */
  path: string;
}

/** Calls a platform over HTTP by the routes of the API and checks the responses. Subclasses choose the errors. */
export abstract class RowClient {
  readonly baseUrl: string;
  readonly #keyPair: () => KeyPair | undefined;
  readonly #defaults: { timeoutMs: number; headers?: Record<string, string>; signal?: AbortSignal };

  /** @param keyPair returns undefined to send no credentials */
  constructor(
    baseUrl: string,
    keyPair: () => KeyPair | undefined,
    defaults: { timeoutMs: number; headers?: Record<string, string>; signal?: AbortSignal },
  ) {
    this.baseUrl = baseUrl;
    this.#keyPair = keyPair;
    this.#defaults = defaults;
  }

  /** The value of the Authorization header; undefined without credentials. May throw the error of `keyPair`. */
  get authorization(): string | undefined {
    const pair = this.#keyPair();
    return pair && `Basic ${Buffer.from(`${pair.key}:${pair.secret}`).toString('base64')}`;
  }

  /** The error for a response with a status of 300 or above. */
  protected abstract refused(call: RefusedCall): Error;

  /** The error for a response that is missing, incomplete or does not match its route. @param reason a sentence */
  protected abstract failed(reason: string, cause?: unknown): Error;

  /** The body of a response; rejects if it is an error or missing. @param path below `{base_url}`, with the query */
  async text(method: string, path: string, call?: Call): Promise<string> {
    const body = await this.stream(method, path, call);
    return readText(body).catch((failure: unknown) => {
      throw this.failed(`${this.baseUrl}${path}: ${reasonOf(failure)}`, failure);
    });
  }

  /** As `text`, but returns the body as a stream. It fails with RequestFailure. */
  async stream(
    method: string,
    path: string,
    { body, accept = 'application/json', timeoutMs }: Call = {},
  ): Promise<Readable> {
    const url = `${this.baseUrl}${path}`;
    const { authorization } = this;
    const { headers, signal, timeoutMs: usualMs } = this.#defaults;
    const limitMs = timeoutMs ?? usualMs;
    const response = await sendRequest(url, {
      method,
      headers: {
        Accept: accept,
        ...headers,
        ...(authorization !== undefined && { Authorization: authorization }),
        ...(body && { 'Content-Type': body.type }),
      },
      body: body?.content,
      ...(signal && { signal }),
      limits: { ...within(limitMs), bytes: Number.POSITIVE_INFINITY },
      linkLocal: 'all',
    }).catch((failure: unknown) => {
      throw this.failed(`${url} does not respond: ${reasonOf(failure)}`, failure);
    });
    const { status, statusText } = response;
    if (status < 300) return response.body;
    throw this.refused({ method, path, status, statusText, text: await readText(response.body) });
  }

  /** Returns the response of a route. Rejects as `text` does, and if the response does not match the route. */
  async ask<R extends AnyRow>(row: R, options: RouteCall<R> = {}): Promise<AnswerOf<R>> {
    const { path: names = {}, query, json, ...call } = options;
    const [verb = '', pattern = ''] = row.route.split(' ');
    const path = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(Object(names)[name]));
    const parameters = new URLSearchParams(query);
    const address = parameters.size === 0 ? path : `${path}?${parameters}`;
    const text = await this.text(verb.toUpperCase(), address, { ...call, ...(json && jsonBody(json)) });
    const answer = jsonIn(text);
    if (isAnswer(row, answer)) return answer;
    throw this.#misfit(path);
  }

  /** The JSON response of a call without a route of its own type. @param schema of the used members; loose to print the whole response */
  async json<T>(method: string, path: string, schema: z.ZodType<T>, call?: Call): Promise<T> {
    const { success, data } = schema.safeParse(jsonIn(await this.text(method, path, call)));
    if (success) return data;
    throw this.#misfit(path);
  }

  #misfit(path: string): Error {
    return this.failed(
      `${this.baseUrl}${path} returned a response that this version does not understand. Check that the address is a Terrarium ` +
        'platform of the same version.',
    );
  }
}

export function jsonBody(content: unknown): Required<Pick<Call, 'body'>> {
  return { body: { type: 'application/json', content: JSON.stringify(content) } };
}

function isAnswer<R extends AnyRow>({ answer }: R, value: unknown): value is AnswerOf<R> {
  return answer?.schema?.safeParse(value).success ?? true;
}
