import { Buffer } from 'node:buffer';
import type { OutcomeHead } from '../protocol.ts';
import { messageOf, traceOf } from './error-text.ts';

/** `exports.run = (event, context, callback) => ...`, both strings (D-135). */
export type Handler = (event: string, context: string, callback: (error?: unknown, value?: unknown) => void) => unknown;

/** How the handler ended, ready to be sent. */
export interface HandlerOutcome {
  head: Omit<OutcomeHead, 'number'>;
  body: Buffer;
  /** Stack trace for the log. */
  trace?: string | undefined;
}

const NOTHING = Buffer.alloc(0);

// Taken at start, like Buffer: a lambda may replace the globals of its own process.
const { stringify } = JSON;

/**
 * Calls the handler and tells its first outcome as soon as there is one: a callback, a returned value, a Promise's value, or
 * what was thrown (D-138). Never throws.
 *
 * @param limitBytes most that a result may have
 * @param done called once, or never when the handler never ends
 */
export function runHandler(
  handler: Handler,
  event: string,
  context: string,
  limitBytes: number,
  done: (outcome: HandlerOutcome) => void,
): void {
  let isDone = false;
  const end = (outcome: HandlerOutcome): void => {
    if (isDone) return;
    isDone = true;
    done(outcome);
  };
  const succeed = (value: unknown): void => end(success(value, limitBytes));
  const fail = (error: unknown, value?: unknown): void => end(failure(error, value, limitBytes));
  // A handler that declares the callback and returns nothing will call back.
  const takeReturned = (value: unknown): void => {
    if (value !== undefined || handler.length < 3) succeed(value);
  };
  try {
    const returned = handler(event, context, (error, value) => (error ? fail(error, value) : succeed(value)));
    if (isThenable(returned)) returned.then(takeReturned, fail);
    else takeReturned(returned);
  } catch (thrown) {
    fail(thrown);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function failure(error: unknown, value: unknown, limitBytes: number): HandlerOutcome {
  const { head, body } = success(value, limitBytes);
  // A second argument that cannot be sent is left out: the error is the news.
  const kept = head.failure ? { kind: 'nothing' as const, body: NOTHING } : { kind: head.kind, body };
  return {
    head: { kind: kept.kind, failure: 'error', message: messageOf(error) },
    body: kept.body,
    trace: traceOf(error),
  };
}

/** Text as it is, other values as JSON, undefined and null as nothing (D-137). */
function success(value: unknown, limitBytes: number): HandlerOutcome {
  if (value === undefined || value === null) return { head: { kind: 'nothing' }, body: NOTHING };
  try {
    const text = typeof value === 'string' ? value : stringify(value);
    if (text === undefined) return unsendable(`a ${typeof value} cannot be sent`);
    // A string has at least as many bytes as characters: no need to encode what is too long anyway.
    const sizeBytes = text.length > limitBytes ? text.length : Buffer.byteLength(text);
    if (sizeBytes > limitBytes) return tooLarge(`has ${sizeBytes} bytes`, limitBytes);
    return { head: { kind: typeof value === 'string' ? 'text' : 'json' }, body: Buffer.from(text) };
  } catch (thrown) {
    const isTooLong = thrown instanceof RangeError && /string length/i.test(thrown.message);
    return isTooLong ? tooLarge('is longer than a string can be', limitBytes) : unsendable(messageOf(thrown));
  }
}

function tooLarge(what: string, limitBytes: number): HandlerOutcome {
  return {
    head: { kind: 'nothing', failure: 'too-large', message: `the result ${what}; at most ${limitBytes} are allowed` },
    body: NOTHING,
  };
}

function unsendable(reason: string): HandlerOutcome {
  const [firstLine] = reason.split('\n');
  return {
    head: {
      kind: 'nothing',
      failure: 'crash',
      message: `the handler's result cannot be turned into JSON: ${firstLine}; give a string or a plain value`,
    },
    body: NOTHING,
  };
}
