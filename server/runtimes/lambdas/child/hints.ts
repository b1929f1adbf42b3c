import { statusIn } from '../../../model/http-result.ts';
import type { CallPlace } from '../process/protocol.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;
const { toString: functionSource } = Function.prototype;

const NO_CALL = /\b(succeed|fail|done|send|json|status|sendStatus|end|type) is not a function/;
/** Matches the error of JSON.parse at the beginning of a page, also as the reason of a library's error. */
const IS_HTML = /(?:^|reason: )Unexpected token '?<'?(?:,| in JSON)/;
const LONGEST_SHOWN = 40;
const NO_BODY = /"undefined" is not valid JSON|Unexpected token u in JSON at position 0/;

/** Returns a line for the log about the result of a handler that was written for another platform. */
export function hintAboutResult(value: unknown, { httpAware, apiEndpointId }: CallPlace): string | undefined {
  if (value === null || apiEndpointId === undefined) return undefined;
  if (typeof value === 'string' && /^\{\s*"statusCode"\s*:/.test(value))
    return 'the result is a string and is sent as text, although it looks like an HTTP response; write: return { statusCode, headers, body } without JSON.stringify (D-140)';
  if (typeof value !== 'object') return undefined;
  const has = (name: string) => name in value;
  const name = ['statusCode', 'status'].find(has);
  const isResponse = has('body') && ['headers', 'multiValueHeaders', 'cookies', 'isBase64Encoded'].find(has);
  if (!httpAware) {
    return isResponse || (name && (has('body') || has('headers')))
      ? 'the result looks like an HTTP response but is sent as JSON. To use it as the response, set is_http_aware on the endpoint. (D-140)'
      : undefined;
  }
  if (['statusCode', 'status'].some((statusName) => statusIn(Reflect.get(value, statusName)) !== undefined))
    return undefined;
  const shownOf = (memberName: string) =>
    String(JSON.stringify(Reflect.get(value, memberName))).slice(0, LONGEST_SHOWN);
  if (name !== undefined)
    return `the result has '${name}' ${shownOf(name)}, which is not a status from 200 to 599, so the whole result is sent as JSON (D-140)`;
  const other = Object.keys(value).find((memberName) => /^status_?code$/i.test(memberName));
  const members = other ? `'${other}'` : isResponse && `'body' and '${isResponse}'`;
  return members
    ? `the result has ${members} but no 'statusCode', so the whole result is sent as JSON; write: statusCode: ${other ? shownOf(other) : 200} (D-140)`
    : undefined;
}

/** Returns what the author of a handler should know about an error that it threw, if its message shows the cause. */
export function hintAboutError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (IS_HTML.test(error.message))
    return `HTML was parsed as JSON - the response is a web page, often an error page; write: if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)`;
  if (NO_CALL.test(error.message))
    return 'a handler is called as (event, context, callback), and context is a JSON string: call callback, or return the result (D-135, D-138)';
  if (NO_BODY.test(error.message))
    return 'event is the request body, as a string: JSON.parse(event), not event.body (D-135)';
  return undefined;
}

/** A handler's first two parameters, if they are plain names or a pattern such as `{ body }`. */
const PARAMETERS =
  /^(?:async\b\s*)?(?:function\b\s*)?\*?\s*(?:[\w$]+\s*(?=\())?\(?\s*([\w$]+|\{[^{}()]*\})\s*(?:,\s*([\w$]+)\s*)?(?:,|\)|=>)/;
const PARAMETER_NAMES = ['event', 'context'];

/**
 * Returns a hint if a failed handler reads its event or context like an object, although both are JSON strings (D-135): the commonest mistake in
 * handlers that were written for another platform. It looks at the source only after a failure, and only for plain cases.
 */
export function hintAboutParameters(handler: (...args: unknown[]) => unknown): string | undefined {
  const source = sourceOf(handler);
  const [head = '', ...parameters] = PARAMETERS.exec(source) ?? [];
  const body = source.slice(head.length);
  for (const [index, parameter] of parameters.entries()) {
    if (parameter === undefined) continue;
    const meaning = PARAMETER_NAMES[index] ?? '';
    const isString = `but its ${index === 0 ? 'first' : 'second'} parameter, the ${meaning}, is a JSON string`;
    if (parameter.startsWith('{'))
      return `the handler unpacks ${parameter}, ${isString}; write: (event) => { const ${parameter} = JSON.parse(event) (D-135)`;
    const property = propertyReadFrom(parameter, body);
    if (property === undefined) continue;
    // The event is the request's body, so that event.body of other platforms is the event itself.
    const instead = index === 0 && property === 'body' ? '' : `.${property}`;
    return `the handler reads ${parameter}.${property}, ${isString}; write: JSON.parse(${parameter})${instead} (D-135)`;
  }
  return undefined;
}

/** Returns the first property that a body reads from a name and that no string has, unless the name can be something else in it. */
function propertyReadFrom(name: string, body: string): string | undefined {
  const escaped = name.replaceAll('$', '\\$');
  const isRedefined = new RegExp(
    `\\b(?:const|let|var|typeof)\\s+${escaped}\\b|\\b${escaped}\\s*=(?!=)|\\b${escaped}\\b[^;{}()\\n]*\\)?\\s*=>`,
  ).test(body);
  if (isRedefined) return undefined;
  const reads = body.matchAll(new RegExp(`(?<![.\\w$])${escaped}(?:\\?\\.|\\.)([A-Za-z_$][\\w$]*)`, 'g'));
  return Array.from(reads, ([, property = '']) => property).find((property) => !(property in String.prototype));
}

function sourceOf(handler: (...args: unknown[]) => unknown): string {
  try {
    return apply(functionSource, handler, []);
  } catch {
    return '';
  }
}
