import { randomUUID } from 'node:crypto';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Invocation, LambdaInvoker } from '../../model/invocation.ts';
import { eventOf, type RecordedInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';

/**
 * Runs a lambda again with the event that it was given, or with another, and with the caller's own credentials: the original ones are not
 * stored. Throws 409 when the event is not stored and none is sent.
 *
 * @param stopsFirst a debugger stops at the first line
 */
export async function replay(
  { recorder, invoker }: { recorder: Recorder; invoker: LambdaInvoker },
  item: RecordedInvocation,
  { caller, creds }: { caller: Caller; creds: string },
  { event, stopsFirst }: { event?: unknown; stopsFirst?: boolean | undefined } = {},
): Promise<Invocation> {
  const recordedEvent = eventOf(recorder.bodies, item);
  const { authorization: _first, cookie: _cookie, ...headers } = recordedEvent.context.headers;
  const body = event === undefined ? recordedEvent.body : bytesOf(event, headers['content-type']);
  if (!body) {
    throw new PlatformError(
      'invalid_state',
      `the event of invocation ${item.executionId} is no longer stored. Send an event.`,
    );
  }
  return invoker.invoke(item.lambdaId, {
    executionId: randomUUID(),
    trigger: 'manual',
    replayOf: item.executionId,
    ...(stopsFirst && { stopsFirst }),
    body,
    context: { ...recordedEvent.context, headers, creds, user: { id: caller.userId, name: caller.name } },
  });
}

/** An edited event: text stays text if the original event was text, all other values are sent as JSON. */
function bytesOf(event: unknown, contentType: string | undefined): Uint8Array {
  const isText = typeof event === 'string' && contentType !== undefined && !/json/i.test(contentType);
  return Buffer.from(isText ? event : JSON.stringify(event));
}
