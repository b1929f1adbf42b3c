import type { Verb } from '../../../server/api/routes/route.ts';
import { COMMIT_HEADER } from '../../../server/model/commit.ts';
import type { ErrorDetail } from '../../../server/model/errors.ts';
import { isJsonObject, jsonIn } from '../../../server/model/json.ts';
import { type Failure, FailureError } from './failure.ts';
import type { AnswerAt } from './routes.ts';
import { sessionHeaders } from './session-key.ts';
import { sessionState } from './session-state.ts';

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };
export type Method = Uppercase<Verb>;
/** A path of the resource service. Its response depends on the resource type, so the caller states the expected type. */
export type RecordPath = `/meta${string}`;
/** The query parameters of an address. Undefined parameters are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface AskOptions {
  query?: Query;
  /** A file is sent as it is, with its type; anything else as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /** A 401 is a normal response here; it does not end the session. */
  isSignIn?: boolean;
  /** Time limit of the response (default: a minute for reads, 15 minutes for changes). */
  timeoutMs?: number;
  commits?: number[];
}

const READ_TIMEOUT_MS = 60_000;
/** Time limit of a change: it can wait for a lambda, which can take 500 s after others, or for an import or a reset. */
const CHANGE_TIMEOUT_MS = 15 * 60_000;
/** For calls of debugged lambdas, which can pause at a breakpoint for any time. */
export const DEBUGGED_TIMEOUT_MS = 24 * 60 * 60_000;

/**
 * A browser cancels its requests when the networks of the machine change, for example because a container starts. These methods are sent again
 * then, after a moment, because to do them twice is the same as once.
 */
const REPEATABLE: ReadonlySet<string> = new Set(['PUT', 'DELETE']);
const REPEAT_AFTER_MS = 300;

/**
 * Sends a request to the server; never throws. The response has the type that the route declares.
 *
 * @param path from the root of the server, e.g. `/meta/orgs`
 */
export async function ask<const M extends Method, const P extends string>(
  method: M,
  path: P,
  options: AskOptions = {},
): Promise<Answer<AnswerAt<M, P>>> {
  const { commits, body: requestBody } = options;
  const timeoutMs = options.timeoutMs ?? (method === 'GET' ? READ_TIMEOUT_MS : CHANGE_TIMEOUT_MS);
  const sessionBefore = sessionState.value;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const request = () =>
    fetch(addressOf(path, options.query), {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        // The history shows the source of a change.
        'X-Terrarium-Client': 'ui',
        ...sessionHeaders(),
        ...(requestBody !== undefined && !(requestBody instanceof Blob) && { 'Content-Type': 'application/json' }),
      },
      ...(requestBody !== undefined && {
        body: requestBody instanceof Blob ? requestBody : JSON.stringify(requestBody),
      }),
      signal,
    });
  let isRepeated = false;
  let response: Response;
  try {
    response = await request().catch(async (failure) => {
      if (!REPEATABLE.has(method) || signal.aborted) throw failure;
      await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS));
      isRepeated = true;
      return request();
    });
  } catch {
    // A file that changed after it was chosen cannot be read.
    const silence = `the server does not respond${requestBody instanceof Blob ? ', or the file cannot be read' : ''}`;
    const message = timeout.aborted ? `no response within ${timeoutMs / 1000} seconds` : silence;
    return { ok: false, failure: { kind: 'offline', code: 0, message, details: [] } };
  }
  const body = await bodyOf(response);
  commits?.push(...(response.headers.get(COMMIT_HEADER)?.split(',') ?? []).map(Number));
  // The first request had deleted it.
  const isDeleted = isRepeated && method === 'DELETE' && response.status === 404;
  // As: tests of the server check that responses match their routes.
  if (response.ok || isDeleted) return { ok: true, value: body as AnswerAt<M, P> };
  const isSignedOut = response.status === 401;
  // A late response says nothing about a session that began after the request.
  if (isSignedOut && !options.isSignIn && sessionState.value === sessionBefore) sessionState.expire();
  return { ok: false, failure: failureIn(response, body, isSignedOut) };
}

/** The response to a GET, for react-query. Throws FailureError. */
export function load<T>(path: RecordPath, query?: Query, signal?: AbortSignal): Promise<T>;
export function load<const P extends string>(path: P, query?: Query, signal?: AbortSignal): Promise<AnswerAt<'GET', P>>;
export async function load(path: string, query?: Query, signal?: AbortSignal): Promise<unknown> {
  return answered(await ask('GET', path, { ...(query && { query }), ...(signal && { signal }) }));
}

/** Loads like `load`, for callers that alone know the path or the form of the response and state its type. */
export const loadAs = load as <T>(path: string, query?: Query, signal?: AbortSignal) => Promise<T>;

/** The response to a change, for react-query's mutations. Throws FailureError. */
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

/** Like `send`, and notes the commits that the requests make. */
export type Send = typeof send;
export function recordingSend(commits: number[]): Send {
  // As: the overloads of `send` give the body and the response their types.
  return (async (method: Method, path: string, body?: unknown, query?: Query) =>
    answered(await ask(method, path, { body, commits, ...(query && { query }) }))) as Send;
}

/** The value of the response; throws FailureError if the request failed. */
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
  // A proxy whose server has ended returns 502, 503 or 504 without the platform's body.
  const isOurs = isJsonObject(body) && typeof body.message === 'string';
  if (!isOurs && response.status >= 502) {
    return { kind: 'offline', code: response.status, message: 'the server does not respond', details: [] };
  }
  return {
    kind: isSignedOut ? 'signed-out' : 'refused',
    code: response.status,
    message: isOurs ? String(body.message) : `${response.status} ${response.statusText}`,
    // The shape of PlatformError's details (server/model/errors.ts).
    details: isOurs && Array.isArray(body.details) ? (body.details as unknown as ErrorDetail[]) : [],
  };
}
