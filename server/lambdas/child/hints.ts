import type { CallPlace } from '../protocol.ts';

/** Members of HTTP answers elsewhere that nobody looks at here. */
const FOREIGN = ['multiValueHeaders', 'cookies'];
const NO_CALL = /\b(succeed|fail|done|send|json|status|sendStatus|end|type) is not a function/;
const NO_BODY = /"undefined" is not valid JSON|Unexpected token u in JSON at position 0/;

/** What a handler that was written for another platform should know of its result: one line for the log. */
export function hintAboutResult(value: unknown, { httpAware, apiEndpointId }: CallPlace): string | undefined {
  if (typeof value !== 'object' || value === null || apiEndpointId === undefined) return undefined;
  if (!httpAware) {
    const isAnswer = 'statusCode' in value && ('body' in value || 'headers' in value);
    return isAnswer
      ? 'the result looks like an HTTP answer and is sent as JSON: set is_http_aware at the endpoint to have it be the answer (D-140)'
      : undefined;
  }
  const foreign = FOREIGN.find((name) => name in value);
  return (
    foreign && `nobody looks at '${foreign}' of an answer: several values of a header are a list in 'headers' (D-140)`
  );
}

/** The same of what it threw. */
export function hintAboutError(error: unknown): string | undefined {
  if (!(error instanceof TypeError || error instanceof SyntaxError)) return undefined;
  if (NO_CALL.test(error.message))
    return 'a handler is called as (event, context, callback), and context is text in JSON: call back, or return the result (D-135, D-138)';
  if (NO_BODY.test(error.message))
    return "event is the request's body itself, as text: JSON.parse(event), not event.body (D-135)";
  return undefined;
}
