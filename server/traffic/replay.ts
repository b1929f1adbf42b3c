import { randomUUID } from 'node:crypto';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Invocation, LambdaInvoker } from '../model/invocation.ts';
import type { WholeInvocation } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';

export interface ReplayOptions {
  recorder: Recorder;
  invoker: LambdaInvoker;
}

/** Who asks for a replay. He has it done in his own name: the credentials of the first caller are not his to use. */
export interface Replayer {
  caller: Caller;
  /** His Authorization header. */
  creds: string;
}

/** Is the event that it was given still there, whole? */
function isReplayable({ isThinned, event }: WholeInvocation): boolean {
  return !isThinned && event.bytes.length === event.sizeBytes;
}

/**
 * Runs a lambda again with the event that it was given, or with another; `stopsFirst`: a debugger stands at its first line.
 *
 * @throws PlatformError 409 when the event is not kept and none is sent
 */
export async function replay(
  { recorder, invoker }: ReplayOptions,
  item: WholeInvocation,
  { caller, creds }: Replayer,
  { event, stopsFirst }: { event?: unknown; stopsFirst?: boolean | undefined } = {},
): Promise<Invocation> {
  if (event === undefined && !isReplayable(item)) {
    throw new PlatformError(
      409,
      `the event of invocation ${item.executionId} was too large to keep, or had to make room; send one`,
    );
  }
  const executionId = randomUUID();
  recorder.noteReplay(executionId, item.executionId);
  const { authorization: _first, cookie: _cookie, ...headers } = item.context.headers;
  return invoker.invoke(item.lambdaId, {
    executionId,
    trigger: 'manual',
    ...(stopsFirst && { stopsFirst }),
    body: event === undefined ? item.event.bytes : bytesOf(event, headers['content-type']),
    context: { ...item.context, headers, creds, user: { id: caller.userId, name: caller.name } },
  });
}

/** An event that was written anew: text as it is for a lambda that was sent text, everything else as JSON. */
function bytesOf(event: unknown, contentType: string | undefined): Uint8Array {
  const isText = typeof event === 'string' && contentType !== undefined && !/json/i.test(contentType);
  return Buffer.from(isText ? event : JSON.stringify(event));
}
