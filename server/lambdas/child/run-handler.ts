import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { isAnyArrayBuffer, isArrayBufferView } from 'node:util/types';
import type { CallPlace, OutcomeHead } from '../protocol.ts';
import { messageOf, traceOf } from './error-text.ts';
import { hintAboutError, hintAboutResult } from './hints.ts';

/** `exports.run = (event, context, callback) => ...`, both strings (D-135), and whether it can call back (D-138). */
export interface Handler {
  call(event: string, context: string, callback: (error?: unknown, value?: unknown) => void): unknown;
  canCallBack: boolean;
  /** The lambda's own function. */
  own?: object;
}

/** How the handler ended, ready to be sent. */
export interface HandlerOutcome {
  head: Pick<OutcomeHead, 'kind' | 'failure' | 'message'>;
  body: string;
  /** Stack trace for the log. */
  trace?: string | undefined;
}

/** Whom a handler that runs has around it. */
export interface HandlerSurroundings {
  /** Most that a result may have. */
  limitBytes: number;
  /** Calls `then` once when the process has nothing left to do for the call; not when the call is over before. */
  whenNothingIsLeft(then: () => void): void;
  /** A line for the log. */
  note(text: string): void;
  /** The same, of what a process needs to say but once. */
  hint(text: string): void;
  /** Where it is called from. */
  place?: CallPlace;
  /** Called once, or never when the handler never ends. */
  done(outcome: HandlerOutcome): void;
}

type Hint = (text: string | undefined) => void;

const NOWHERE: CallPlace = { httpAware: false };
const WHAT_TO_RETURN =
  'return a string or a plain value, a Promise of one, or declare (event, context, callback) and call back';

// Taken at start, like Buffer: a lambda may replace the globals of its own process.
const { stringify } = JSON;
const { isArray } = Array;
const { getPrototypeOf } = Object;
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

/**
 * Calls the handler and tells its first outcome (D-138): a callback, a Promise's value, what was thrown, or what it returned; of a
 * handler that can call back only when nothing is left that could. Never throws.
 */
export function runHandler(handler: Handler, event: string, context: string, surroundings: HandlerSurroundings): void {
  const { limitBytes, whenNothingIsLeft, note, done, place = NOWHERE } = surroundings;
  const hint = (text: string | undefined): void => void (text && surroundings.hint(text));
  let isDone = false;
  let isPending = false;
  let held: { value: unknown } | undefined;
  const end = (outcome: HandlerOutcome): void => {
    if (isDone) return;
    isDone = true;
    done(outcome);
  };
  const succeed = (value: unknown): void => {
    if (!isDone) end(success(value, limitBytes, hint, place));
  };
  const fail = (error: unknown, value?: unknown): void => {
    if (!isDone) end(failure(error, value, limitBytes, hint));
  };
  const takeSettled = (value: unknown): void => {
    isPending = false;
    if (!handler.canCallBack || (value !== undefined && !isByproduct(value))) succeed(value);
  };
  const endIdle = (): void => {
    if (isDone) return;
    if (!held) note(idleNote(handler.canCallBack, isPending));
    // A Promise that is all there is decides, if only by never doing so.
    if (handler.canCallBack) succeed(held?.value);
  };
  try {
    const returned = handler.call(event, context, (error, value) => (error ? fail(error, value) : succeed(value)));
    if (isThenable(returned)) {
      isPending = true;
      settled(returned).then(takeSettled, fail);
    } else if (!handler.canCallBack) succeed(returned);
    else if (isPlain(returned)) held = { value: returned };
    if (!isDone) whenNothingIsLeft(endIdle);
  } catch (thrown) {
    fail(thrown);
  }
}

function idleNote(canCallBack: boolean, isPending: boolean): string {
  if (!canCallBack) return "nothing is left that could settle the handler's Promise; the time-out will end it";
  const what = isPending ? 'neither settled its Promise nor called back' : 'ended without calling back';
  return `the handler ${what}, and nothing is left that could; the result is empty`;
}

/** By the language's own means: whatever the lambda may have done to Promise, and however often Promises are nested. */
async function settled(promise: PromiseLike<unknown>): Promise<unknown> {
  return await promise;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && 'then' in value && typeof value.then === 'function';
}

/** What somebody returns who means it: text, number, boolean, null, an array, bytes or an object without a class. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object') return ['string', 'number', 'boolean'].includes(typeof value);
  if (value === null || isArray(value) || isArrayBufferView(value) || isAnyArrayBuffer(value)) return true;
  const prototype = getPrototypeOf(value);
  return prototype === null || getPrototypeOf(prototype) === null;
}

/** What an expression leaves that starts something: a timer, a request. Nobody answers with that. */
function isByproduct(value: unknown): boolean {
  return typeof value === 'function' || STARTED.some((kind) => value instanceof kind);
}

/** A timer, a request or another stream, which is no value yet. What knows its JSON is none of these. */
function isUnderWay(value: unknown): boolean {
  if (!STARTED.some((kind) => value instanceof kind)) return false;
  // As: it is an object.
  const { pipe, toJSON } = value as { pipe?: unknown; toJSON?: unknown };
  return toJSON === undefined && (typeof pipe === 'function' || !(value instanceof EventEmitter));
}

function nameOf(value: unknown): string {
  const name = (value as object).constructor?.name || 'nameless object';
  return `${/^[AEIOU]/i.test(name) ? 'an' : 'a'} ${name}`;
}

function failure(error: unknown, value: unknown, limitBytes: number, hint: Hint): HandlerOutcome {
  const { head, body } = success(value, limitBytes);
  hint(hintAboutError(error));
  // A second argument that cannot be sent is left out: the error is the news.
  const kept = head.failure ? { kind: 'nothing' as const, body: '' } : { kind: head.kind, body };
  return {
    head: { kind: kept.kind, failure: 'error', message: messageOf(error) },
    body: kept.body,
    trace: traceOf(error),
  };
}

/** Text as it is, other values as JSON, undefined and null as nothing (D-137). */
function success(value: unknown, limitBytes: number, hint?: Hint, place = NOWHERE): HandlerOutcome {
  if (value === undefined || value === null) return { head: { kind: 'nothing' }, body: '' };
  try {
    if (isUnderWay(value))
      return unsendable(`the handler's result is ${nameOf(value)}, which cannot be sent: ${WHAT_TO_RETURN}`);
    const text = typeof value === 'string' ? value : stringify(value);
    if (text === undefined) return notJson(`a ${typeof value} cannot be sent`);
    // A string has at least as many bytes as characters: no need to encode what is too long anyway.
    const sizeBytes = text.length > limitBytes ? text.length : Buffer.byteLength(text);
    if (sizeBytes > limitBytes) return tooLarge(`has ${sizeBytes} bytes`, limitBytes);
    // A Map, a Response, an Error.
    if (text === '{}' && !isPlain(value))
      hint?.(`the handler's result is ${nameOf(value)}, of which JSON keeps nothing: the answer is {}`);
    hint?.(hintAboutResult(value, place));
    return { head: { kind: typeof value === 'string' ? 'text' : 'json' }, body: text };
  } catch (thrown) {
    const isTooLong = thrown instanceof RangeError && /string length/i.test(thrown.message);
    return isTooLong ? tooLarge('is longer than a string can be', limitBytes) : notJson(messageOf(thrown));
  }
}

function tooLarge(what: string, limitBytes: number): HandlerOutcome {
  return {
    head: { kind: 'nothing', failure: 'too-large', message: `the result ${what}; at most ${limitBytes} are allowed` },
    body: '',
  };
}

function notJson(reason: string): HandlerOutcome {
  const [firstLine] = reason.split('\n');
  return unsendable(`the handler's result cannot be turned into JSON: ${firstLine}; give a string or a plain value`);
}

function unsendable(message: string): HandlerOutcome {
  return { head: { kind: 'nothing', failure: 'crash', message }, body: '' };
}

/** Node does not export the classes of its timers. */
function classOf<T extends object>(timer: T, clear: (timer: T) => void): new () => object {
  clear(timer);
  // As: it was made by that class.
  return timer.constructor as new () => object;
}
