import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { FailureKind, Invocation, LambdaValue, Outcome } from '../model/invocation.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { type Answer, hasHeader, jsonAnswer } from './answer.ts';
import { setsWindowCookie } from './window-cookies.ts';

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

/** D-139. */
const FAILURE_STATUS: Readonly<Record<FailureKind, number>> = {
  error: 500,
  timeout: 504,
  crash: 502,
  load: 502,
  'too-large': 502,
  deleted: 503,
  busy: 503,
  runtime: 501,
  interrupted: 503,
};

/** Statuses that have no body (RFC 9110), whatever the lambda gives. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Header names that a lambda's answer may not set: of the connection, and the gateway's own (D-157). */
const RESERVED =
  /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-length|x-terrarium-.*|x-ratelimit-(limit|remaining)-minute)$/i;

type Failure = Outcome & { ok: false };

/** A fault of an http-aware result that makes it unusable as an HTTP answer. */
class UnusableResult extends Error {}

/** The content type of a lambda's value (D-137). */
export function contentTypeOf(value: LambdaValue, accept: string | undefined): string {
  return acceptOr(value.kind === 'json' ? JSON_TYPE : TEXT, accept);
}

function acceptOr(fallback: string, accept: string | undefined): string {
  return accept && isHeaderValue(accept) ? accept : fallback;
}

/** The HTTP answer of an invocation: D-137, D-139, and D-140 for an http-aware endpoint. Never throws. */
export function lambdaAnswer(invocation: Invocation, isHttpAware: boolean): Answer {
  const { outcome, executionId } = invocation;
  if (!outcome.ok) return failureAnswer(outcome, executionId);
  const parts = isHttpAware ? httpParts(outcome.value) : undefined;
  try {
    const answer = parts ? httpAnswer(parts, invocation.accept) : plainAnswer(outcome.value, invocation.accept);
    answer.executionId = executionId;
    return answer;
  } catch (fault) {
    if (!(fault instanceof UnusableResult)) throw fault;
    const message = `lambda '${invocation.lambdaName}' gave an http-aware result that cannot be sent: ${fault.message}`;
    return errorOf(502, message, executionId);
  }
}

/** The answer of a failed or refused invocation (D-139). */
export function failureAnswer({ failure, message }: Failure, executionId?: string): Answer {
  return errorOf(FAILURE_STATUS[failure], message, executionId, failure === 'busy' ? ['Retry-After', '1'] : []);
}

function errorOf(code: number, message: string, executionId?: string, headers: readonly string[] = []): Answer {
  const answer = jsonAnswer(code, { code, message, executionId }, headers);
  if (executionId !== undefined) answer.executionId = executionId;
  return answer;
}

function plainAnswer(value: LambdaValue, accept: string | undefined): Answer {
  if (value.kind === 'nothing') return { status: 200, headers: [], body: '' };
  return { status: 200, headers: ['Content-Type', contentTypeOf(value, accept)], body: value.bytes };
}

/** The result object of D-140 with its status, or undefined when the value is none. */
function httpParts(value: LambdaValue): { status: number; result: JsonObject } | undefined {
  if (value.kind !== 'json') return undefined;
  const result: unknown = JSON.parse(Buffer.from(value.bytes).toString());
  if (!isJsonObject(result)) return undefined;
  const status = [memberOf(result, 'statusCode'), memberOf(result, 'status')].find(isStatus);
  return status === undefined ? undefined : { status, result };
}

function isStatus(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599;
}

function httpAnswer({ status, result }: { status: number; result: JsonObject }, accept: string | undefined): Answer {
  const headers = headerLines(memberOf(result, 'headers') ?? {});
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
    ? { body: Buffer.from(body, 'base64'), contentType: 'application/octet-stream' }
    : { body, contentType: TEXT };
}

/** One line for each value; lines that only the gateway may set are left out, and cookies of the window. */
function headerLines(headers: Json): string[] {
  if (!isJsonObject(headers)) throw new UnusableResult("'headers' is not an object");
  return Object.entries(headers)
    .filter(([name]) => !RESERVED.test(name))
    .flatMap(([name, value]) => [value].flat().flatMap((one) => headerLine(name, one)));
}

function headerLine(name: string, value: Json): string[] {
  if (value === null) return [];
  if (typeof value === 'object')
    throw new UnusableResult(`header '${excerpt(name)}' is neither text nor a list of texts`);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
  } catch (cause) {
    throw new UnusableResult(`header '${excerpt(name)}' is not valid in HTTP`, { cause });
  }
  return setsWindowCookie(name, String(value)) ? [] : [name, String(value)];
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
