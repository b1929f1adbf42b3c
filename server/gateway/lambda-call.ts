import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import type { Identification } from '../model/caller.ts';
import { type ErrorCode, errorCodes } from '../model/error-codes.ts';
import { statusIn } from '../model/http-result.ts';
import type { CallContext, FailureKind, Invocation, LambdaCall, LambdaValue, Outcome } from '../model/invocation.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import type { Uuid } from '../model/record.ts';
import { MAX_ACCEPT_CHARACTERS } from '../model/types/lambda.ts';
import { type Answer, type Exchange, hasHeader, jsonAnswer } from './exchange.ts';
import { affectsWindow } from './forwarded-headers.ts';
import { queryParams } from './request.ts';

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';
const BYTES = 'application/octet-stream';

/** D-139. */
const FAILURE_CODES: Readonly<Record<FailureKind, ErrorCode>> = {
  error: 'lambda_failed',
  timeout: 'lambda_timeout',
  crash: 'lambda_crashed',
  load: 'lambda_crashed',
  'too-large': 'lambda_result_invalid',
  'invalid-result': 'lambda_result_invalid',
  deleted: 'lambda_deleted',
  busy: 'lambda_busy',
  runtime: 'not_supported',
  interrupted: 'lambda_interrupted',
  pending: 'lambda_pending',
};

/** Statuses without a body (RFC 9110), whatever the lambda returns. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Headers that the response of a lambda must not set: those of the connection and those of the gateway (D-157). */
const RESERVED =
  /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-length|x-terrarium-.*|x-ratelimit-(limit|remaining)-minute)$/i;

type Failure = Outcome & { ok: false };

class UnusableResult extends Error {}

export function contentTypeOf(value: LambdaValue, accept: string | undefined): string {
  const usual = acceptOr(value.kind === 'json' ? JSON_TYPE : value.kind === 'bytes' ? BYTES : TEXT, accept);
  return 'contentType' in value ? acceptOr(usual, value.contentType) : usual;
}

function acceptOr(fallback: string, accept: string | undefined): string {
  return accept && accept.length <= MAX_ACCEPT_CHARACTERS && isHeaderValue(accept) ? accept : fallback;
}

/** D-137, D-139, and D-140 for an http-aware endpoint. Never throws; `log` adds a line to the lambda's log. */
export function lambdaAnswer(invocation: Invocation, isHttpAware: boolean, log?: (text: string) => void): Answer {
  const { outcome, executionId } = invocation;
  if (!outcome.ok) return failureAnswer(outcome, executionId);
  const parts = isHttpAware ? httpParts(outcome.value) : undefined;
  try {
    const answer = parts ? httpAnswer(parts, invocation.accept) : plainAnswer(outcome.value, invocation.accept);
    answer.executionId = executionId;
    return answer;
  } catch (fault) {
    if (!(fault instanceof UnusableResult)) throw fault;
    const problem = `http-aware result that cannot be sent: ${fault.message}`;
    log?.(`the handler returned an ${problem} (D-140)`);
    return errorOf('lambda_result_invalid', `lambda '${invocation.lambdaName}' returned an ${problem}`, executionId);
  }
}

export function failureAnswer({ failure, message }: Failure, executionId?: string): Answer {
  return errorOf(FAILURE_CODES[failure], message, executionId, failure === 'busy' ? ['Retry-After', '1'] : []);
}

function errorOf(reason: ErrorCode, message: string, executionId?: string, headers: readonly string[] = []): Answer {
  const { status: code } = errorCodes[reason];
  const answer = jsonAnswer(code, { code, reason, message, executionId }, headers);
  if (executionId !== undefined) answer.executionId = executionId;
  return answer;
}

function plainAnswer(value: LambdaValue, accept: string | undefined): Answer {
  if (value.kind === 'nothing') return { status: 200, headers: [], body: '' };
  return { status: 200, headers: ['Content-Type', contentTypeOf(value, accept)], body: value.bytes };
}

/** The result object of D-140 with its status, or undefined if the result is not one. */
function httpParts(value: LambdaValue): { status: number; result: JsonObject } | undefined {
  if (value.kind !== 'json') return undefined;
  const result: unknown = JSON.parse(Buffer.from(value.bytes).toString());
  if (!isJsonObject(result)) return undefined;
  const status = statusIn(memberOf(result, 'statusCode')) ?? statusIn(memberOf(result, 'status'));
  return status === undefined ? undefined : { status, result };
}

function httpAnswer({ status, result }: { status: number; result: JsonObject }, accept: string | undefined): Answer {
  const headers = headersOf(result);
  if (WITHOUT_BODY.has(status)) return { status, headers, body: '' };
  const { body, contentType } = bodyOf(result);
  if (body.length > 0 && !hasHeader(headers, 'Content-Type'))
    headers.push('Content-Type', acceptOr(contentType, accept));
  return { status, headers, body };
}

function bodyOf(result: JsonObject): { body: string | Uint8Array; contentType: string } {
  const body = memberOf(result, 'body') ?? '';
  if (typeof body !== 'string') return { body: JSON.stringify(body), contentType: JSON_TYPE };
  return memberOf(result, 'isBase64Encoded') === true
    ? { body: Buffer.from(body, 'base64'), contentType: BYTES }
    : { body, contentType: TEXT };
}

/** `multiValueHeaders` overrides `headers`; each of `cookies` is a separate `Set-Cookie`. */
function headersOf(result: JsonObject): string[] {
  const single = headerLines('headers', memberOf(result, 'headers') ?? {});
  const several = headerLines('multiValueHeaders', memberOf(result, 'multiValueHeaders') ?? {});
  const cookies = memberOf(result, 'cookies') ?? [];
  if (!Array.isArray(cookies)) throw new UnusableResult("'cookies' is not an array");
  const singleHeaders = single.filter((_, at) => !hasHeader(several, single[at - (at % 2)] ?? ''));
  return [...singleHeaders, ...several, ...cookies.flatMap((cookie) => headerLine('Set-Cookie', cookie))];
}

/** One line per value, without headers that only the gateway sets and without cookies of the window. */
function headerLines(member: string, headers: Json): string[] {
  if (!isJsonObject(headers)) throw new UnusableResult(`'${member}' is not an object`);
  return Object.entries(headers)
    .filter(([name]) => !RESERVED.test(name))
    .flatMap(([name, value]) => [value].flat().flatMap((headerValue) => headerLine(name, headerValue)));
}

function headerLine(name: string, value: Json): string[] {
  if (value === null) return [];
  if (typeof value === 'object')
    throw new UnusableResult(`header '${excerpt(name)}' is neither a string nor an array of strings`);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
  } catch (cause) {
    throw new UnusableResult(`header '${excerpt(name)}' is not valid in HTTP`, { cause });
  }
  return affectsWindow(name, String(value)) ? [] : [name, String(value)];
}

function excerpt(name: string): string {
  return JSON.stringify(name.slice(0, 64)).slice(1, -1);
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('content-type', value);
    return true;
  } catch {
    return false;
  }
}

interface ContextParts {
  path: string;
  query: string;
  identification: Identification;
  isHttpAware: boolean;
  apiEndpointId?: Uuid;
}

/** The latest context of each connection with its input: the next call often has the same. */
const lastContexts = new WeakMap<Socket, { rawHeaders: readonly string[]; query: string; context: CallContext }>();

export function lambdaCall(
  exchange: Exchange,
  parts: { trigger: 'gateway' | 'async'; body: Uint8Array } & ContextParts,
): LambdaCall {
  const { trigger, body } = parts;
  const executionId = randomUUID();
  exchange.executionId = executionId;
  return { executionId, trigger, body, context: contextOf(exchange, parts), bodies: exchange.bodies };
}

function contextOf({ request }: Exchange, parts: ContextParts): CallContext {
  const { path, query, identification, isHttpAware, apiEndpointId } = parts;
  const { rawHeaders, method = '' } = request;
  const user =
    identification.kind === 'caller' ? { id: identification.caller.userId, name: identification.caller.name } : null;
  const last = lastContexts.get(request.socket);
  if (
    last?.query === query &&
    last.context.path === path &&
    last.context.method === method &&
    last.context.apiEndpointId === apiEndpointId &&
    last.context.httpAware === isHttpAware &&
    last.context.user?.id === user?.id &&
    last.context.user?.name === user?.name &&
    isSameList(last.rawHeaders, rawHeaders)
  )
    return last.context;
  const context: CallContext = {
    method,
    path,
    params: queryParams(query),
    headers: singleHeaders(request.headers),
    creds: request.headers.authorization ?? '',
    user,
    httpAware: isHttpAware,
  };
  if (apiEndpointId !== undefined) context.apiEndpointId = apiEndpointId;
  lastContexts.set(request.socket, { rawHeaders, query, context });
  return context;
}

function isSameList(list: readonly string[], otherList: readonly string[]): boolean {
  if (list.length !== otherList.length) return false;
  for (let index = 0; index < list.length; index++) if (list[index] !== otherList[index]) return false;
  return true;
}

/** In node:http only Set-Cookie has several values, and it is not a request header. */
function singleHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const cookies = headers['set-cookie'];
  // Every other present member is a string.
  return (cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers) as Record<string, string>;
}
