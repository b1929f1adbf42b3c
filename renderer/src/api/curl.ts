import type { RecordedExchange } from './traffic.ts';

/** What curl sets itself, or what belongs to one connection. */
const LEFT_OUT = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding', 'expect']);
const HIDDEN = '<hidden>';

/** A request as a command for a POSIX shell. What was hidden of it is left for the reader to fill in. */
export function curlOf(
  { method, target, request }: Pick<RecordedExchange, 'method' | 'target' | 'request'>,
  address: string,
): string {
  const url = /^https?:/i.test(target) ? target : `${address.replace(/\/$/, '')}${target}`;
  const parts = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`];
  for (const [name, value] of request.headers) {
    if (LEFT_OUT.has(name.toLowerCase()) || name.toLowerCase().startsWith('sec-')) continue;
    parts.push(`-H ${quoted(`${name}: ${value.replace(HIDDEN, 'FILL-IN')}`)}`);
  }
  const { text, isCut } = request.body ?? {};
  if (text !== undefined && text !== '' && !isCut) parts.push(`--data-raw ${quoted(text)}`);
  return parts.join(' \\\n  ');
}

/** A text as one word of a POSIX shell, whatever is in it. */
export function quoted(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
