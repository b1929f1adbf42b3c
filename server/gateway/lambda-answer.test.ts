import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../model/error-codes.ts';
import type { FailureKind, Outcome } from '../model/invocation.ts';
import { invocation, json, ok, text } from '../testing/gateway.ts';
import { lambdaAnswer } from './lambda-call.ts';

const answerOf = (outcome: Outcome, isHttpAware = false, accept?: string) =>
  lambdaAnswer(invocation('a-lambda', 'an-execution', outcome, accept), isHttpAware);
const aware = (result: unknown, accept?: string) => answerOf(json(result), true, accept);
const bodyOf = ({ body }: { body: string | Uint8Array }) => Buffer.from(body).toString();

describe('a result (D-137)', () => {
  it.each([
    ['text', text('SUCCESS'), undefined, ['Content-Type', 'text/plain; charset=utf-8'], 'SUCCESS'],
    ['text with Accept', text('<a/>'), 'text/xml', ['Content-Type', 'text/xml'], '<a/>'],
    ['an object', json({ a: 1 }), undefined, ['Content-Type', 'application/json'], '{"a":1}'],
    ['a number with Accept', json(7), 'text/x-number', ['Content-Type', 'text/x-number'], '7'],
    [
      'bytes',
      ok({ kind: 'bytes', bytes: Buffer.from('x') }),
      undefined,
      ['Content-Type', 'application/octet-stream'],
      'x',
    ],
    [
      'bytes with Accept',
      ok({ kind: 'bytes', bytes: Buffer.from('x') }),
      'image/png',
      ['Content-Type', 'image/png'],
      'x',
    ],
    ['nothing', ok({ kind: 'nothing' }), 'text/html', [], ''],
    ['text with an Accept that is no header', text('x'), 'a\nb', ['Content-Type', 'text/plain; charset=utf-8'], 'x'],
  ])('%s', (_what, outcome, accept, headers, body) => {
    const answer = answerOf(outcome, false, accept);
    expect(answer).toMatchObject({ status: 200, headers, executionId: 'an-execution' });
    expect(bodyOf(answer)).toBe(body);
  });
});

describe('a failure (D-139)', () => {
  it.each<[FailureKind, number, ErrorCode]>([
    ['error', 500, 'lambda_failed'],
    ['timeout', 504, 'lambda_timeout'],
    ['crash', 502, 'lambda_crashed'],
    ['load', 502, 'lambda_crashed'],
    ['too-large', 502, 'lambda_result_invalid'],
    ['invalid-result', 502, 'lambda_result_invalid'],
    ['deleted', 503, 'lambda_deleted'],
    ['busy', 503, 'lambda_busy'],
    ['runtime', 501, 'not_supported'],
    ['interrupted', 503, 'lambda_interrupted'],
  ])('%s is %i with reason %s', (failure, status, reason) => {
    const answer = answerOf(
      { ok: false, failure, message: 'oh', value: { kind: 'text', bytes: Buffer.from('ERROR') } },
      true,
    );
    expect(answer.status).toBe(status);
    const body = { code: status, reason, message: 'oh', executionId: 'an-execution' };
    expect(JSON.parse(bodyOf(answer))).toEqual(body);
    expect(answer.headers.includes('Retry-After')).toBe(failure === 'busy');
  });
});

describe('an http-aware result (D-140)', () => {
  it('becomes status, headers and body', () => {
    const answer = aware({ statusCode: 201, headers: { 'X-A': 'b', 'Set-Cookie': ['c=1', 'd=2'] }, body: 'made' });
    expect(answer.status).toBe(201);
    expect(answer.headers).toEqual([
      'X-A',
      'b',
      'Set-Cookie',
      'c=1',
      'Set-Cookie',
      'd=2',
      'Content-Type',
      'text/plain; charset=utf-8',
    ]);
    expect(bodyOf(answer)).toBe('made');
  });

  it('has a status that is text, too', () => {
    expect(aware({ statusCode: '201', body: 'x' })).toMatchObject({ status: 201, body: 'x' });
    expect(aware({ statusCode: 'x', status: '404', body: 'x' })).toMatchObject({ status: 404, body: 'x' });
    for (const statusCode of ['20x', '99', 99, 600, '600', '-1', -1, ' 200', '2e2', 200.5, null, ['200']])
      expect(bodyOf(aware({ statusCode, body: 'x' }))).toBe(JSON.stringify({ statusCode, body: 'x' }));
  });

  it('has multiValueHeaders, which win over headers, and cookies', () => {
    const multiValueHeaders = { 'x-b': ['1', '2'], 'Set-Cookie': ['a=1'] };
    const answer = aware({
      status: 204,
      headers: { 'X-A': 'a', 'X-B': 'b' },
      multiValueHeaders,
      cookies: ['c=1', 'd=2'],
    });
    const cookies = ['Set-Cookie', 'a=1', 'Set-Cookie', 'c=1', 'Set-Cookie', 'd=2'];
    expect(answer.headers).toEqual(['X-A', 'a', 'x-b', '1', 'x-b', '2', ...cookies]);
    expect(aware({ status: 200, cookies: 'a=1' }).status).toBe(502);
    expect(aware({ status: 200, multiValueHeaders: [] }).status).toBe(502);
    expect(aware({ status: 200, headers: null, multiValueHeaders: null, cookies: null }).status).toBe(200);
  });

  it('takes its body as text, as JSON, as bytes, or has none', () => {
    expect(aware({ status: 200, body: { a: 1 } })).toMatchObject({
      headers: ['Content-Type', 'application/json'],
      body: '{"a":1}',
    });
    expect(aware({ status: 200, body: 0 })).toMatchObject({ body: '0' });
    expect(aware({ status: 200, body: '/w==', isBase64Encoded: true })).toMatchObject({
      headers: ['Content-Type', 'application/octet-stream'],
      body: Buffer.from([255]),
    });
    expect(aware({ status: 200 })).toMatchObject({ headers: [], body: '' });
    expect(aware({ status: 200, body: null })).toMatchObject({ headers: [], body: '' });
  });

  it.each([204, 205, 304])('of status %i has no body, and no content type that it did not ask for', (status) => {
    expect(aware({ status, body: 'x' }, 'c/d')).toMatchObject({ status, headers: [], body: '' });
    expect(aware({ status, headers: { ETag: '"a"' }, body: { a: 1 } })).toMatchObject({
      headers: ['ETag', '"a"'],
      body: '',
    });
  });

  it('keeps its own content type over Accept, and Accept over the default', () => {
    expect(aware({ status: 200, headers: { 'content-type': 'a/b' }, body: 'x' }, 'c/d').headers).toEqual([
      'content-type',
      'a/b',
    ]);
    expect(aware({ status: 200, body: 'x' }, 'c/d').headers).toEqual(['Content-Type', 'c/d']);
  });

  it.each([
    [{ body: 'x' }],
    [{ statusCode: 99 }],
    [{ statusCode: 101 }],
    [{ status: 600 }],
    [{ status: 200.5 }],
    [[{ status: 200 }]],
    [null],
    [7],
  ])('%j has no usable status and is an ordinary result', (result) => {
    const answer = aware(result);
    expect(answer).toMatchObject({ status: 200, headers: ['Content-Type', 'application/json'] });
    expect(bodyOf(answer)).toBe(JSON.stringify(result));
  });

  it('looks at status when statusCode is unusable', () => {
    expect(aware({ statusCode: 7, status: 404 }).status).toBe(404);
  });

  it.each([
    [{ 'bad name': 'x' }, "header 'bad name'"],
    [{ '': 'x' }, "header ''"],
    [{ 'X-A': 'a\r\nSet-Cookie: evil=1' }, "header 'X-A'"],
    [{ 'X-A': '\u20ac' }, "header 'X-A'"],
    [{ 'X-A': ['ok', { no: 1 }] }, "header 'X-A'"],
    [{ 'X-A': { no: 1 } }, "header 'X-A'"],
    [['X-A', 'b'], "'headers'"],
    ['X-A: b', "'headers'"],
  ])('with headers %j is a 502 that says which', (headers, named) => {
    const answer = aware({ status: 200, headers, body: 'x' });
    expect(answer.status).toBe(502);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({
      code: 502,
      message: expect.stringContaining(named),
      executionId: 'an-execution',
    });
  });

  it('may not speak for the connection or the gateway', () => {
    const headers = {
      'Content-Length': '1',
      Connection: 'upgrade',
      'transfer-encoding': 'chunked',
      'X-Terrarium-Version': '0',
      'X-A': 1,
      'X-B': null,
    };
    expect(aware({ status: 200, headers }).headers).toEqual(['X-A', '1']);
  });
});
