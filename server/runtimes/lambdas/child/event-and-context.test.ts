import { describe, expect, it } from 'vitest';
import { ActiveInvocation } from '../pool/active-invocation.ts';
import { eventAndContext } from './event-and-context.ts';

const context = {
  method: 'POST',
  path: '/rest',
  params: { a: ['1', '2'] },
  headers: { host: 'x' },
  creds: '',
  user: null,
  httpAware: false,
};
const ids = { executionId: 'e', lambdaId: 'l', lambdaName: 'name' };
const lambda = { id: ids.lambdaId, name: ids.lambdaName };
const call = { executionId: ids.executionId, trigger: 'gateway', body: Buffer.alloc(0), context } as const;
const members = new ActiveInvocation(call, lambda, 0).headMembers(lambda);
const head = JSON.parse(`{"executionId":"${ids.executionId}",${members}}`);

function read(body: string | Buffer) {
  const [event, context] = eventAndContext(Buffer.from(body), head, 5);
  return { event, context: JSON.parse(context) };
}

describe('the input of a handler', () => {
  it('is the body verbatim, and {} without one (D-135)', () => {
    expect(read('').event).toBe('{}');
    expect(read(' {"payload": {"a" : 1}}\n').event).toBe(' {"payload": {"a" : 1}}\n');
    expect(read('ümläut \u{1F331}').event).toBe('ümläut \u{1F331}');
  });

  it('is base64 when the body is not UTF-8, and the context says so', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0, 1]);
    expect(read(bytes)).toEqual({
      event: bytes.toString('base64'),
      context: { ...context, ...ids, deadline: 5, eventName: '', isBase64Encoded: true },
    });
  });

  it('has a context with every member, eventName from a JSON body (D-136)', () => {
    expect(read('{"eventName":"made","data":1}').context).toEqual({
      ...context,
      ...ids,
      deadline: 5,
      eventName: 'made',
    });
    for (const body of [
      '',
      '[]',
      'eventName',
      '{"eventName":5}',
      '{"data":{"eventName":"inner"}}',
      '"eventName"',
      'null',
    ]) {
      expect(read(body).context.eventName).toBe('');
    }
  });
});
