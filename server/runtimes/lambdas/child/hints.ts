import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { statusIn } from '../../../model/http-result.ts';
import type { CallPlace } from '../process/protocol.ts';
import { sourceLine } from './source-place.ts';

const NO_CALL = /\b(succeed|fail|done|send|json|status|sendStatus|end|type) is not a function/;
/** What JSON.parse says of the beginning of a page, and libraries as the reason of their own error. */
const IS_HTML = /(?:^|reason: )Unexpected token '?<'?(?:,| in JSON)/;
/** The places of a stack that are in files; the first that exists is no part of Node, but may be one of a package. */
const FRAME = /\(?((?:[A-Za-z]:)?[\\/][^()\n]*?):(\d+):\d+\)?$/gm;
const LONGEST_SHOWN = 40;
const NO_BODY = /"undefined" is not valid JSON|Unexpected token u in JSON at position 0/;

/** What a handler that was written for another platform should know of its result: one line for the log. */
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
  if (['statusCode', 'status'].some((one) => statusIn(Reflect.get(value, one)) !== undefined)) return undefined;
  const shownOf = (one: string) => String(JSON.stringify(Reflect.get(value, one))).slice(0, LONGEST_SHOWN);
  if (name !== undefined)
    return `the result has '${name}' ${shownOf(name)}, which is not a status from 200 to 599, so the whole result is sent as JSON (D-140)`;
  const other = Object.keys(value).find((one) => /^status_?code$/i.test(one));
  const what = other ? `'${other}'` : isResponse && `'body' and '${isResponse}'`;
  return what
    ? `the result has ${what} but no 'statusCode', so the whole result is sent as JSON; write: statusCode: ${other ? shownOf(other) : 200} (D-140)`
    : undefined;
}

/** The same of what it threw. @param isExplained has its source been explained already? */
export function hintAboutError(error: unknown, isExplained: boolean): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (IS_HTML.test(error.message)) {
    const isOwn = ([, one = '']: RegExpMatchArray) =>
      one !== __filename && existsSync(one) && !/[\\/]node_modules[\\/]/.test(one);
    const [, file = '', line] = [...(error.stack ?? '').matchAll(FRAME)].find(isOwn) ?? [];
    const place =
      line === undefined
        ? 'HTML was parsed as JSON'
        : `${basename(file)}, line ${line} parses HTML as JSON in: ${sourceLine(file, Number(line))}`;
    return `${place} - the response is a web page, often an error page; write: if (!response.ok) throw new Error(\`\${response.status} \${await response.text()}\`)`;
  }
  if (isExplained) return undefined;
  if (NO_CALL.test(error.message))
    return 'a handler is called as (event, context, callback), and context is a JSON string: call callback, or return the result (D-135, D-138)';
  if (NO_BODY.test(error.message))
    return 'event is the request body, as a string: JSON.parse(event), not event.body (D-135)';
  return undefined;
}
