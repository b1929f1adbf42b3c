import type { Verb } from '../../../server/contract/row.ts';
import type { ErrorDetail } from '../../../server/model/errors.ts';
import { isJsonObject, jsonIn } from '../../../server/model/json.ts';
import { type Failure, FailureError } from './failure.ts';
import type { AnswerAt } from './routes.ts';
import { sessionState } from './session-state.ts';
import { sessionHeaders } from './window-key.ts';

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };
export type Method = Uppercase<Verb>;
/** An address of the resource service, whose answers depend on the type that it names: who asks says what it expects. */
export type RecordPath = `/meta${string}`;
/** What is left out or undefined does not become part of the address. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface AskOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /** A 401 is an answer here, not the end of the session. */
  isSignIn?: boolean;
  /** How long the answer may take. Default: a minute. */
  timeoutMs?: number;
}

/** How long an answer may take; a call that waits for a lambda or an import says more. */
const ANSWER_TIMEOUT_MS = 60_000;

/**
 * Asks the server; never throws. What it answers is what its row says, which is taken at its word here.
 *
 * @param path from the root of the server, e.g. `/meta/orgs`
 */
export async function ask<const M extends Method, const P extends string>(
  method: M,
  path: P,
  options: AskOptions = {},
): Promise<Answer<AnswerAt<M, P>>> {
  const { timeoutMs = ANSWER_TIMEOUT_MS } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  try {
    response = await fetch(addressOf(path, options.query), {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        // The history says through what a change was made.
        'X-Terrarium-Client': 'ui',
        ...sessionHeaders(),
        ...(options.body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
    });
  } catch {
    const message = timeout.aborted ? `no answer within ${timeoutMs / 1000} seconds` : 'the server does not answer';
    return { ok: false, failure: { kind: 'offline', code: 0, message, details: [] } };
  }
  const body = await bodyOf(response);
  // As: the server is held to its rows by its own tests.
  if (response.ok) return { ok: true, value: body as AnswerAt<M, P> };
  const isSignedOut = response.status === 401;
  if (isSignedOut && !options.isSignIn) sessionState.expire();
  return { ok: false, failure: failureIn(response, body, isSignedOut) };
}

/** The answer to a GET, for react-query. Throws FailureError. */
export function load<T>(path: RecordPath, query?: Query, signal?: AbortSignal): Promise<T>;
export function load<const P extends string>(path: P, query?: Query, signal?: AbortSignal): Promise<AnswerAt<'GET', P>>;
export async function load(path: string, query?: Query, signal?: AbortSignal): Promise<unknown> {
  return answered(await ask('GET', path, { ...(query && { query }), ...(signal && { signal }) }));
}

/** The same where an address, or which of its forms an answer has, is known to the caller only, who says what it is. */
export const loadAs = load as <T>(path: string, query?: Query, signal?: AbortSignal) => Promise<T>;

/** The answer to a change, for react-query's mutations. Throws FailureError. */
export function send<T>(method: Method, path: RecordPath, body?: unknown, query?: Query): Promise<T>;
export function send<const M extends Method, const P extends string>(
  method: M,
  path: P,
  body?: unknown,
  query?: Query,
): Promise<AnswerAt<M, P>>;
export async function send(method: Method, path: string, body?: unknown, query?: Query): Promise<unknown> {
  return answered(await ask(method, path, { body, ...(query && { query }) }));
}

/** What was answered; throws FailureError where it was refused. */
export function answered<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new FailureError(answer.failure);
}

/** Path and query as an address on the same server. */
export function addressOf(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => '');
  const value = jsonIn(text);
  return value === undefined ? text || undefined : value;
}

function failureIn(response: Response, body: unknown, isSignedOut: boolean): Failure {
  // A proxy whose server is gone answers 502, 503 or 504 without our body.
  const isOurs = isJsonObject(body) && typeof body.message === 'string';
  if (!isOurs && response.status >= 502) {
    return { kind: 'offline', code: response.status, message: 'the server does not answer', details: [] };
  }
  return {
    kind: isSignedOut ? 'signed-out' : 'refused',
    code: response.status,
    message: isOurs ? String(body.message) : `${response.status} ${response.statusText}`,
    // The shape of PlatformError's details (server/model/errors.ts).
    details: isOurs && Array.isArray(body.details) ? (body.details as unknown as ErrorDetail[]) : [],
  };
}
