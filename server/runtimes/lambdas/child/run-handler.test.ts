import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { acceptsCallback } from './accepts-callback.ts';
import * as parser from './declares-callback.ts';
import { type Handler, type HandlerOutcome, runHandler } from './run-handler.ts';

const LIMIT = 1_000;

async function outcomeOf(handler: (...args: never[]) => unknown, note: (text: string) => void = () => {}) {
  const { head, body } = await new Promise<HandlerOutcome>((done) =>
    // As: a handler may declare as many parameters as it likes.
    runHandler(
      { call: handler as Handler['call'], acceptsCallback: acceptsCallback(handler, () => parser) },
      'event',
      'context',
      {
        limitBytes: LIMIT,
        // Those of these tests have something left to do for one turn of the event loop.
        whenNothingIsLeft: (then) => void setImmediate(() => setImmediate(then)),
        beforeTimeout: () => {},
        note,
        hint: note,
        done,
      },
    ),
  );
  return { ...head, ...(head.kind !== 'nothing' && { value: body.toString() }) };
}

type Callback = (error?: unknown, value?: unknown) => void;

describe('the outcome of a handler (D-138)', () => {
  it('is the callback value, whatever it returns afterwards', async () => {
    const handler = (_event: string, _context: string, callback: Callback) => {
      callback(null, 'called back');
      return 'returned';
    };
    expect(await outcomeOf(handler)).toEqual({ kind: 'text', value: 'called back' });
  });

  it('is the first of several', async () => {
    const handler = (_event: string, _context: string, callback: Callback) => {
      callback(null, 1);
      callback(null, 2);
      callback(new Error('too late'));
      throw new Error('far too late');
    };
    expect(await outcomeOf(handler)).toEqual({ kind: 'json', value: '1' });
  });

  it('is the returned value or that of the returned Promise', async () => {
    expect(await outcomeOf(() => 'text')).toEqual({ kind: 'text', value: 'text' });
    expect(await outcomeOf(async () => ({ a: 1 }))).toEqual({ kind: 'json', value: '{"a":1}' });
    // biome-ignore lint/suspicious/noThenProperty: the point is that any thenable will do
    expect(await outcomeOf(() => ({ then: (resolve: (value: unknown) => void) => resolve(5) }))).toEqual({
      kind: 'json',
      value: '5',
    });
  });

  it('is nothing when a handler of fewer than three parameters returns undefined', async () => {
    expect(await outcomeOf(() => {})).toEqual({ kind: 'nothing' });
    expect(await outcomeOf(async (_event: string, _context: string) => {})).toEqual({ kind: 'nothing' });
  });

  it('is awaited when a handler of three parameters returns undefined, or a Promise of it', async () => {
    const later = (_event: string, _context: string, callback: Callback) =>
      void setImmediate(() => callback(null, 'late'));
    expect(await outcomeOf(later)).toEqual({ kind: 'text', value: 'late' });
    expect(await outcomeOf(async (...args: [string, string, Callback]) => later(...args))).toEqual({
      kind: 'text',
      value: 'late',
    });
    const asyncLater = async (event: string, context: string, callback: Callback) => later(event, context, callback);
    expect(await outcomeOf(asyncLater)).toEqual({ kind: 'text', value: 'late' });
  });

  it('is null from three parameters too', async () => {
    expect(await outcomeOf((_event: string, _context: string, _callback: Callback) => null)).toEqual({
      kind: 'nothing',
    });
  });

  it('is an error for a thrown, rejected or truthy callback value', async () => {
    const failing = (thrown: unknown) => () => {
      throw thrown;
    };
    const error = (message: string) => ({ kind: 'nothing', failure: 'error', message });
    expect(await outcomeOf(failing(new TypeError('bad')))).toEqual(error('bad'));
    expect(await outcomeOf(failing('text'))).toEqual(error('text'));
    expect(await outcomeOf(failing({ code: 7 }))).toEqual(error('{"code":7}'));
    expect(await outcomeOf(failing(new Error()))).toEqual(error('Error'));
    expect(await outcomeOf(async () => failing(undefined)())).toEqual(error('undefined'));
    expect(await outcomeOf((_e: string, _c: string, callback: Callback) => callback('no'))).toEqual(error('no'));
  });

  it('keeps the second argument beside an error, unless it cannot be sent', async () => {
    const withValue = (value: unknown) => (_e: string, _c: string, callback: Callback) => callback('no', value);
    expect(await outcomeOf(withValue('ERROR'))).toEqual({
      kind: 'text',
      value: 'ERROR',
      failure: 'error',
      message: 'no',
    });
    expect(await outcomeOf(withValue(1n))).toEqual({ kind: 'nothing', failure: 'error', message: 'no' });
  });

  it('is a failure that says so when the result cannot be converted to JSON', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    for (const result of [circular, 1n, () => {}, Symbol('s'), { toJSON: () => undefined }]) {
      expect(await outcomeOf(() => result)).toMatchObject({
        failure: 'invalid-result',
        message: expect.stringContaining('cannot be converted to JSON'),
      });
    }
  });

  it('fails and names the started operation when it is the result of a handler without a callback', async () => {
    const timer = setTimeout(() => {});
    const byproducts = [
      timer,
      setImmediate(() => {}),
      Readable.from(['a']),
      new ServerResponse(new IncomingMessage(new Socket())),
    ];
    for (const result of byproducts) {
      const message = `the handler's result is ${/^I/.test(result.constructor.name) ? 'an' : 'a'} ${result.constructor.name}, which cannot be sent: return a string, a plain value or a promise of one, or declare (event, context, callback) and call callback`;
      expect(await outcomeOf(() => result)).toEqual({ kind: 'nothing', failure: 'invalid-result', message });
      expect(await outcomeOf(async () => result)).toEqual({ kind: 'nothing', failure: 'invalid-result', message });
    }
    clearTimeout(timer);
    // What knows its JSON is a result like any other.
    const model = Object.assign(Readable.from(['a']), { toJSON: () => ({ a: 1 }) });
    expect(await outcomeOf(() => model)).toEqual({ kind: 'json', value: '{"a":1}' });
  });

  it('fails and says what to return instead of an object that is empty as JSON (D-137)', async () => {
    const results: [object, string][] = [
      [new Map([[1, 2]]), 'a Map, which is empty as JSON; return Object.fromEntries(map)'],
      [new Set([1]), 'a Set, which is empty as JSON; return [...set]'],
      [new Error('x'), 'an Error, which is empty as JSON; throw it, or pass it to callback'],
      [
        Object.assign(new TypeError('x'), { code: 1 }),
        'a TypeError, which is empty as JSON; throw it, or pass it to callback',
      ],
      [new FormData(), 'a FormData, which is empty as JSON; return Object.fromEntries(formData)'],
      [new Headers(), 'a Headers, which is empty as JSON; return Object.fromEntries(headers)'],
      [new Blob(['x']), 'a Blob, which is empty as JSON; return Buffer.from(await blob.arrayBuffer())'],
      [/x/, 'a RegExp, which is empty as JSON; return its source, a string'],
      [new (class Order {})(), 'an Order, which is empty as JSON; return a string, bytes or a plain value'],
    ];
    for (const [result, rest] of results)
      expect(await outcomeOf(async () => result)).toEqual({
        kind: 'nothing',
        failure: 'invalid-result',
        message: `the handler's result is ${rest}`,
      });
  });

  it('is the body and content type of a web Response, and only the first outcome counts while it is read', async () => {
    expect(await outcomeOf(async () => Response.json({ a: 1 }, { status: 201 }))).toEqual({
      kind: 'text',
      value: '{"a":1}',
      contentType: 'application/json',
    });
    expect(await outcomeOf(() => new Response(Buffer.from([1, 2])))).toEqual({ kind: 'bytes', value: '\u0001\u0002' });
    const twice = (_event: string, _context: string, callback: Callback) => {
      callback(null, new Response('first'));
      callback(null, 'second');
    };
    expect(await outcomeOf(twice)).toMatchObject({ kind: 'text', value: 'first' });
    const used = new Response('x');
    await used.text();
    expect(await outcomeOf(() => used)).toMatchObject({ failure: 'error' });
    expect(await outcomeOf(() => new Response('x'.repeat(LIMIT + 1)))).toMatchObject({ failure: 'too-large' });
  });

  it('is JSON of an instance with members, or that knows its JSON, and of an empty plain object', async () => {
    expect(
      await outcomeOf(
        () =>
          new (class Order {
            id = 1;
          })(),
      ),
    ).toEqual({ kind: 'json', value: '{"id":1}' });
    const error = Object.assign(new Error('x'), { toJSON: () => ({ a: 1 }) });
    expect(await outcomeOf(() => error)).toEqual({ kind: 'json', value: '{"a":1}' });
    expect(await outcomeOf(() => ({}))).toEqual({ kind: 'json', value: '{}' });
  });

  it('has no stack trace in an error called back as one (D-139)', async () => {
    const trace = 'Error: bad\n    at run (/home/ada/index.js:1:2)\n    at async go (node:internal:3:4)';
    for (const handler of [
      (_e: string, _c: string, callback: Callback) => callback(trace),
      async () => Promise.reject(new Error(trace)),
    ]) {
      expect(await outcomeOf(handler)).toEqual({ kind: 'nothing', failure: 'error', message: 'Error: bad' });
    }
  });

  it('is a failure that says so when the result is larger than allowed, counted in bytes', async () => {
    expect(await outcomeOf(() => 'x'.repeat(LIMIT))).toMatchObject({ kind: 'text' });
    expect(await outcomeOf(() => 'ü'.repeat(LIMIT / 2 + 1))).toMatchObject({
      failure: 'too-large',
      message: 'the result has 1002 bytes; at most 1000 are allowed',
    });
    expect(await outcomeOf(() => ['x'.repeat(LIMIT)])).toMatchObject({ failure: 'too-large' });
  });
});
