import { isUtf8 } from 'node:buffer';
import type { InvokeHead } from '../process/protocol.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { parse, stringify } = JSON;

/** A handler's strings: the event is the body, `{}` without one, base64 if it is not UTF-8 (D-135); the context is JSON (D-136). */
export function eventAndContext(
  body: Buffer,
  { context, executionId, lambda }: Pick<InvokeHead, 'context' | 'executionId' | 'lambda'>,
  deadline: number,
): [event: string, context: string] {
  const isText = isUtf8(body);
  const event = body.length === 0 ? '{}' : body.toString(isText ? 'utf8' : 'base64');
  const eventName = isText ? eventNameIn(event) : '';
  const more = isText ? '' : ',"isBase64Encoded":true';
  const contextText = `${context},"executionId":"${executionId}",${lambda}`;
  return [event, `${contextText},"deadline":${deadline},"eventName":${stringify(eventName)}${more}}`];
}

function eventNameIn(event: string): string {
  // Most bodies have none; looking is far cheaper than parsing.
  if (!event.includes('eventName')) return '';
  try {
    // As: a JSON value has any members or none.
    const document = parse(event) as { eventName?: unknown } | null;
    return typeof document?.eventName === 'string' ? document.eventName : '';
  } catch {
    return '';
  }
}
