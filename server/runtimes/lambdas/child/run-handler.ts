import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { isAnyArrayBuffer, isArrayBufferView, isBoxedPrimitive, isNativeError } from 'node:util/types';
import type { CallPlace, OutcomeHead } from '../process/protocol.ts';
import { messageOf, traceOf, withArticle } from './error-text.ts';
import { hintAboutError, hintAboutParameters, hintAboutResult } from './hints.ts';

/** `exports.run = (event, context, callback) => ...`, both strings (D-135), and whether it can call back (D-138). */
export interface Handler {
  call(event: string, context: string, callback: (error?: unknown, value?: unknown) => void): unknown;
  acceptsCallback: boolean;
  /** The exported function; its source explains failed calls. */
  exportedFunction?: (...args: unknown[]) => unknown;
}

export interface HandlerOutcome {
  head: Pick<OutcomeHead, 'kind' | 'contentType' | 'failure' | 'message'>;
  body: string | Uint8Array;
  trace?: string | undefined;
}

export interface HandlerContext {
  limitBytes: number;
  /** Calls `then` once when the process has nothing left to do for the call; not when the call is over before. */
  whenNothingIsLeft(then: () => void): void;
  note(text: string): void;
  hint(text: string): void;
  /** Calls `then` shortly before the timeout ends the call. */
  beforeTimeout(then: () => void): void;
  callInfo?: CallPlace;
  done(outcome: HandlerOutcome): void;
}

type Hint = (text: string | undefined) => void;

const NOWHERE: CallPlace = { httpAware: false };
const WHAT_TO_RETURN =
  'return a string, a plain value or a promise of one, or declare (event, context, callback) and call callback';

/** For objects that are empty as JSON, by the name of their class. */
const INSTEAD_OF: ReadonlyMap<string, string> = new Map([
  ['Error', 'throw it, or pass it to callback'],
  ['Map', 'return Object.fromEntries(map)'],
  ['Set', 'return [...set]'],
  ['FormData', 'return Object.fromEntries(formData)'],
  ['Headers', 'return Object.fromEntries(headers)'],
  ['Blob', 'return Buffer.from(await blob.arrayBuffer())'],
  ['File', 'return Buffer.from(await file.arrayBuffer())'],
  ['RegExp', 'return its source, a string'],
]);

// Captured at start, like Buffer, because a lambda may replace the globals of its own process.
const { stringify } = JSON;
const { isArray } = Array;
const getActiveResourcesInfo = process.getActiveResourcesInfo.bind(process);
const { fromEntries, getPrototypeOf } = Object;
class Unsendable extends Error {}
const DECODED_HEADERS = new Set(['content-encoding', 'content-length']);
/** Content types of UTF-8 text. */
const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|javascript)\b)(?!.*charset=(?!"?utf-8))/i;
const STARTED = [
  EventEmitter,
  classOf(
    setTimeout(() => {}),
    clearTimeout,
  ),
  classOf(
    setImmediate(() => {}),
    clearImmediate,
  ),
];

/** Calls the handler and reports its first outcome (D-138). Never throws. If it accepts a callback, a returned value counts when no work is left. */
export function runHandler(handler: Handler, event: string, context: string, environment: HandlerContext): void {
  const { limitBytes, whenNothingIsLeft, beforeTimeout, note, done, callInfo = NOWHERE } = environment;
  const hint = (text: string | undefined): void => void (text && environment.hint(text));
  let isDone = false;
  let isPending = false;
  let heldResult: { value: unknown } | undefined;
  const end = (outcome: HandlerOutcome): void => {
    if (isDone) return;
    isDone = true;
    done(outcome);
  };
  const succeed = (value: unknown): void => {
    if (isDone) return;
    if (!isWebResponse(value)) {
      end(success(value, limitBytes, hint, callInfo));
      return;
    }
    isDone = true; // other outcomes come too late, even while the body is read
    readResponse(value, limitBytes, callInfo).then(done, (error) =>
      done(failure(error, undefined, limitBytes, hint, handler)),
    );
  };
  const fail = (error: unknown, value?: unknown): void => {
    if (!isDone) end(failure(error, value, limitBytes, hint, handler));
  };
  const takeSettled = (value: unknown): void => {
    isPending = false;
    if (!handler.acceptsCallback || (value !== undefined && !isByproduct(value))) succeed(value);
  };
  const endIdle = (): void => {
    if (isDone) return;
    if (!heldResult) note(idleNote(handler.acceptsCallback, isPending));
    // A Promise that is all there is decides, if only by never doing so.
    if (handler.acceptsCallback) succeed(heldResult?.value);
  };
  const endLate = (): void => {
    if (isDone || !heldResult) return;
    note(
      `the handler did not call its callback within the timeout, so the returned value is the result${stillRunning()}`,
    );
    succeed(heldResult.value);
  };
  try {
    const returned = handler.call(event, context, (error, value) => (error ? fail(error, value) : succeed(value)));
    if (isThenable(returned)) {
      isPending = true;
      settled(returned).then(takeSettled, fail);
    } else if (!handler.acceptsCallback) succeed(returned);
    else if (isPlain(returned)) {
      heldResult = { value: returned };
      beforeTimeout(endLate);
    }
    if (!isDone) whenNothingIsLeft(endIdle);
  } catch (thrown) {
    fail(thrown);
  }
}

function idleNote(acceptsCallback: boolean, isPending: boolean): string {
  if (!acceptsCallback) return "nothing is left that could settle the handler's promise; the timeout will end it";
  const problem = isPending
    ? 'neither settled its promise nor called its callback'
    : 'ended without calling its callback';
  return `the handler ${problem}, and nothing is left that could; the result is empty`;
}

function stillRunning(): string {
  const kinds = new Set(getActiveResourcesInfo().filter((kind) => !/^(PipeWrap|TTYWrap|FSReqCallback)$/.test(kind)));
  return kinds.size > 0 ? `; still active: ${[...kinds].join(', ')}` : '';
}

/** Awaits the promise by the language's own means, whatever the lambda may have done to Promise, and however often promises are nested. */
async function settled(promise: PromiseLike<unknown>): Promise<unknown> {
  return await promise;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && 'then' in value && typeof value.then === 'function';
}

/** True for a value that is meant as a result: text, number, boolean, null, an array, bytes or an object without a class. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object') return ['string', 'number', 'boolean'].includes(typeof value);
  if (value === null || isArray(value) || isBytes(value)) return true;
  const prototype = getPrototypeOf(value);
  return prototype === null || getPrototypeOf(prototype) === null;
}

function isBytes(value: unknown): value is NodeJS.ArrayBufferView | ArrayBufferLike {
  return isArrayBufferView(value) || isAnyArrayBuffer(value);
}

/** JSON leaves out what a Map or an Error contains. */
function isEmptyAsJson(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  return isNativeError(value) || (text === '{}' && !isPlain(value));
}

function emptyAsJson(value: unknown): string {
  const name = (value as object).constructor?.name ?? '';
  const instead = INSTEAD_OF.get(isNativeError(value) ? 'Error' : name) ?? 'return a string, bytes or a plain value';
  return `the handler's result is ${nameOf(value)}, which is empty as JSON; ${instead}`;
}

function bytesOf(value: NodeJS.ArrayBufferView | ArrayBufferLike): Buffer {
  return isArrayBufferView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : Buffer.from(value);
}

/** Replaces the parts of an HTTP response that JSON lacks: a body of bytes, headers of a class with entries (D-140). Throws Unsendable. */
function withJsonParts(value: unknown, hint: Hint | undefined): unknown {
  if (typeof value !== 'object' || value === null || isArray(value) || isBoxedPrimitive(value) || 'toJSON' in value)
    return value;
  const parts: { body?: unknown; headers?: unknown } = { ...value };
  const { body, headers } = parts;
  const advice = 'give a string, bytes or a plain value';
  if (isUnderWay(body) || isThenable(body)) {
    const subject = `the 'body' of the handler's result is ${nameOf(body)}`;
    throw new Unsendable(`${subject}, which cannot be sent: wait for its end, and ${advice}`);
  }
  if (isBytes(body)) Object.assign(parts, { body: bytesOf(body).toString('base64'), isBase64Encoded: true });
  else if (typeof body === 'object' && !isPlain(body) && stringify(body) === '{}')
    hint?.(`the 'body' of the result is ${nameOf(body)}, which is empty as JSON; ${advice}`);
  if (typeof headers === 'object' && headers !== null && Symbol.iterator in headers && !isArray(headers)) {
    // As: what has entries gives them one by one, such as Headers and a Map.
    parts.headers = linesByName(headers as Iterable<[string, unknown]>);
  }
  return parts;
}

/** A web `Response`, of any realm or library, by its members: with the first use of its class, Node loads modules that few lambdas need. */
function isWebResponse(value: unknown): value is Response {
  return (
    typeof value === 'object' &&
    value !== null &&
    'arrayBuffer' in value &&
    typeof value.arrayBuffer === 'function' &&
    'status' in value &&
    typeof value.status === 'number' &&
    'headers' in value &&
    typeof value.headers === 'object'
  );
}

/** Returns a Response's status, headers and body for an http-aware endpoint, else its body and content type (D-137, D-140). */
async function readResponse(response: Response, limitBytes: number, callInfo: CallPlace): Promise<HandlerOutcome> {
  const bytes = Buffer.from(await response.arrayBuffer());
  // `fetch` has decoded the body of a response that it received.
  const isReceived = response.url !== '' && response.url !== undefined;
  const headers = linesByName([...response.headers].filter(([name]) => !isReceived || !DECODED_HEADERS.has(name)));
  if (callInfo.httpAware)
    return success({ statusCode: response.status, headers, body: bytes }, limitBytes, undefined, callInfo);
  const contentType = response.headers.get('content-type') ?? undefined;
  const isText = contentType !== undefined && TEXT_TYPE.test(contentType);
  const { head, body } = success(isText ? bytes.toString() : bytes, limitBytes);
  return { head: head.failure || contentType === undefined ? head : { ...head, contentType }, body };
}

/** Returns the values of each header name, in order. */
function linesByName(entries: Iterable<[string, unknown]>): Record<string, unknown[]> {
  const lines = new Map<string, unknown[]>();
  for (const [name, value] of entries) lines.set(name, [...(lines.get(name) ?? []), value]);
  return fromEntries(lines);
}

/** Values of expressions that start something, such as a timer or a request: not a result. */
function isByproduct(value: unknown): boolean {
  return typeof value === 'function' || STARTED.some((kind) => value instanceof kind);
}

/** A timer, a request or another stream, which is no value yet. What knows its JSON is none of these. */
function isUnderWay(value: unknown): boolean {
  if (isReadableStream(value)) return true;
  if (!STARTED.some((kind) => value instanceof kind)) return false;
  // As: it is an object.
  const { pipe, toJSON } = value as { pipe?: unknown; toJSON?: unknown };
  return toJSON === undefined && (typeof pipe === 'function' || !(value instanceof EventEmitter));
}

/** Recognizes a readable stream by its methods: with the first use of its class, Node loads modules that no other lambda needs. */
function isReadableStream(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'getReader' in value && 'pipeTo' in value;
}

function nameOf(value: unknown): string {
  return withArticle((value as object).constructor?.name || 'nameless object');
}

function failure(
  error: unknown,
  value: unknown,
  limitBytes: number,
  hint: Hint,
  { exportedFunction }: Handler,
): HandlerOutcome {
  const { head, body } = success(value, limitBytes);
  hint(hintAboutError(error) ?? (exportedFunction && hintAboutParameters(exportedFunction)));
  // A second argument that cannot be sent is left out: the error is the news.
  const partialResult = head.failure ? { kind: 'nothing' as const, body: '' } : { kind: head.kind, body };
  return {
    head: { kind: partialResult.kind, failure: 'error', message: messageOf(error) },
    body: partialResult.body,
    trace: traceOf(error),
  };
}

/** Text and bytes as they are, other values as JSON, undefined and null as nothing (D-137). */
function success(value: unknown, limitBytes: number, hint?: Hint, callInfo = NOWHERE): HandlerOutcome {
  if (value === undefined || value === null) return { head: { kind: 'nothing' }, body: '' };
  try {
    if (isUnderWay(value))
      throw new Unsendable(`the handler's result is ${nameOf(value)}, which cannot be sent: ${WHAT_TO_RETURN}`);
    if (isBytes(value)) {
      const { byteLength } = value;
      if (byteLength > limitBytes) return tooLarge(`has ${byteLength} bytes`, limitBytes);
      return { head: { kind: 'bytes' }, body: bytesOf(value) };
    }
    const text = typeof value === 'string' ? value : stringify(callInfo.httpAware ? withJsonParts(value, hint) : value);
    if (text === undefined) return notJson(`${withArticle(typeof value)} cannot be sent`);
    // A string has at least as many bytes as characters: no need to encode what is too long anyway.
    const sizeBytes = text.length > limitBytes ? text.length : Buffer.byteLength(text);
    if (sizeBytes > limitBytes) return tooLarge(`has ${sizeBytes} bytes`, limitBytes);
    if (isEmptyAsJson(value, text)) throw new Unsendable(emptyAsJson(value));
    hint?.(hintAboutResult(value, callInfo));
    return { head: { kind: typeof value === 'string' ? 'text' : 'json' }, body: text };
  } catch (thrown) {
    if (thrown instanceof Unsendable) return unusable('invalid-result', thrown.message);
    const isTooLong = thrown instanceof RangeError && /string length/i.test(thrown.message);
    return isTooLong ? tooLarge('is longer than a string can be', limitBytes) : notJson(messageOf(thrown));
  }
}

function tooLarge(problem: string, limitBytes: number): HandlerOutcome {
  return unusable('too-large', `the result ${problem}; at most ${limitBytes} are allowed`);
}

function notJson(reason: string): HandlerOutcome {
  const [firstLine] = reason.split('\n');
  return unusable(
    'invalid-result',
    `the handler's result cannot be converted to JSON: ${firstLine}; return a string or a plain value`,
  );
}

function unusable(failure: 'too-large' | 'invalid-result', message: string): HandlerOutcome {
  return { head: { kind: 'nothing', failure, message }, body: '' };
}

/** Node does not export the classes of its timers. */
function classOf<T extends object>(timer: T, clear: (timer: T) => void): new () => object {
  clear(timer);
  // As: it was made by that class.
  return timer.constructor as new () => object;
}
