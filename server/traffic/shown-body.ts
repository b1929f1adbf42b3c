import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import type { OutboundBody as ShownOutboundBody } from '../contract/logs.ts';
import type { RecordedBody } from '../contract/parts.ts';
import { type CapturedBody, MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { OutboundBody } from '../model/invocation.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { HIDDEN, isHiddenPlace } from '../model/masking.ts';

/** Names whose values are nobody's business: in JSON, forms and queries. */
const SECRET_NAME =
  /pass(word|phrase)|secret|(^|[_-])(access|refresh|id|private|auth|bearer|api|session)?[_-]?token$|credential|api[_-]?key|private[_-]?key|^authorization$|^creds$|^code$/i;
/** Of a scheme, not of what follows it. */
const SECRET_HEADER = /^(proxy-)?authorization$/i;
const HIDDEN_HEADER = /^(set-)?cookie$|token|secret|api-?key/i;
const FORM = 'application/x-www-form-urlencoded';
const TEXTUAL = /^text\/|json|xml|javascript|urlencoded|graphql|yaml/i;

/** Header lines, names and values alternating, without credentials: of those one sees which kind they were. */
export function shownHeaders(lines: readonly string[]): [string, string][] {
  const shown: [string, string][] = [];
  for (let at = 0; at < lines.length; at += 2) {
    const [name = '', value = ''] = [lines[at], lines[at + 1]];
    shown.push([name, shownHeader(name, value)]);
  }
  return shown;
}

export function shownHeader(name: string, value: string): string {
  if (SECRET_HEADER.test(name))
    return value.replace(/^(\S*)\s*(.*)$/s, (_all, scheme: string, rest: string) =>
      rest === '' ? HIDDEN : `${scheme} ${HIDDEN}`,
    );
  return HIDDEN_HEADER.test(name) ? HIDDEN : value;
}

/** Of the names that were met, which are of headers whose value is not shown; few are met. */
const secretNames = new Map<string, boolean>();
const MAX_NAMES = 1_000;

/** Header lines as they are kept: what nobody is shown, and nothing else needs, does not come into memory or files. */
export function keptHeaders(lines: readonly string[]): readonly string[] {
  let kept: string[] | undefined;
  for (let at = 0; at < lines.length; at += 2) {
    const name = lines[at] ?? '';
    if (!isSecretHeader(name)) continue;
    kept ??= [...lines];
    kept[at + 1] = shownHeader(name, lines[at + 1] ?? '');
  }
  return kept ?? lines;
}

function isSecretHeader(name: string): boolean {
  const known = secretNames.get(name);
  if (known !== undefined) return known;
  const isSecret = SECRET_HEADER.test(name) || HIDDEN_HEADER.test(name);
  if (secretNames.size < MAX_NAMES) secretNames.set(name, isSecret);
  return isSecret;
}

/** A request target whose query tells no secrets. */
export function shownTarget(target: string): string {
  if (!target.includes('?')) return target;
  const [path = '', ...query] = target.split('?');
  return `${path}?${shownForm(query.join('?'))}`;
}

/** The value of a header, whatever its case. */
export function headerIn(lines: readonly string[], name: string): string | undefined {
  for (let at = 0; at < lines.length; at += 2) if (lines[at]?.toLowerCase() === name) return lines[at + 1];
  return undefined;
}

/**
 * A body as it may be shown: text where it is one, else base64, with passwords, tokens and the like hidden.
 *
 * @param contentType the header; without one, whatever looks like text is text
 */
export function shownBody(
  { bytes, sizeBytes, isWhole }: CapturedBody & { isWhole?: boolean },
  contentType: string | undefined,
): RecordedBody {
  const isCut = sizeBytes > bytes.length && !isWhole;
  const text = contentType === undefined || TEXTUAL.test(contentType) ? textOf(bytes, isCut) : undefined;
  const shown =
    text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text: shownText(text, contentType) };
  return { sizeBytes, ...(isCut && { isCut }), ...shown };
}

/** A body as it may be shown that went over the wire, decompressed where it can be; `sizeBytes` is that of what was sent. */
export function shownWireBody({ contentType, contentEncoding, ...body }: OutboundBody): ShownOutboundBody {
  const encoding = contentEncoding?.trim().toLowerCase();
  if (!encoding || encoding === 'identity') return shownBody(body, contentType);
  const plain = decompressed(body.bytes, encoding);
  if (!plain) return { ...shownBody(body, 'application/octet-stream'), encoding };
  const isCut = body.sizeBytes > body.bytes.length || plain.length > MAX_CAPTURED_BYTES;
  const bytes = plain.subarray(0, MAX_CAPTURED_BYTES);
  const shown = shownBody({ bytes, sizeBytes: isCut ? bytes.length + 1 : bytes.length }, contentType);
  return { ...shown, sizeBytes: body.sizeBytes, encoding };
}

/** Most that a body is let grow to when it is decompressed. */
const MAX_PLAIN_BYTES = 16 * MAX_CAPTURED_BYTES;

/** Undefined when it cannot be. What was cut is decompressed as far as it goes. */
function decompressed(bytes: Uint8Array, encoding: string): Buffer | undefined {
  const options = { maxOutputLength: MAX_PLAIN_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(bytes, options);
    if (encoding === 'deflate') return inflateSync(bytes, options);
    if (encoding === 'br')
      return brotliDecompressSync(bytes, { ...options, finishFlush: constants.BROTLI_OPERATION_FLUSH });
  } catch {
    // It is not what it says, or grows too large.
  }
  return undefined;
}

/** Text of a body as it is shown, and so as it is searched; empty for what is no text. */
export function shownTextOf(body: CapturedBody, contentType: string | undefined): string {
  return shownBody(body, contentType).text ?? '';
}

/** Text of a body with its secrets hidden; the very same text when it has none. */
function shownText(text: string, contentType: string | undefined): string {
  if (contentType?.toLowerCase().startsWith(FORM)) return shownForm(text);
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: Json = JSON.parse(text);
    const shown = withoutSecrets(value);
    return shown === value ? text : JSON.stringify(shown);
  } catch {
    // Cut off, or no JSON after all: what looks like a member with a secret name.
    return text.replace(/"([^"\\]{1,64})"\s*:\s*"(?:[^"\\]|\\.)*("|$)/g, (member, name: string) =>
      SECRET_NAME.test(name) ? `"${name}":"${HIDDEN}"` : member,
    );
  }
}

/** The texts of a parameter as they are shown. */
export function shownTexts(name: string, texts: readonly string[]): string[] {
  return texts.map((text) => (text !== '' && SECRET_NAME.test(name) ? HIDDEN : text));
}

/** The same value when nothing in it had to be hidden. */
export function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) {
    const shown = value.map(withoutSecrets);
    return shown.every((one, at) => one === value[at]) ? value : shown;
  }
  if (!isJsonObject(value)) return value;
  // The items of a secret: a key may be read, its value may not.
  const isItem = typeof value.key === 'string' && 'value' in value;
  const isHiddenChange = typeof value.path === 'string' && isSecretPath(value.path);
  let isChanged = false;
  const members = Object.entries(value).map(([name, member]) => {
    const isSecret = (name === 'value' && (isItem || isHiddenChange)) || (isText(member) && SECRET_NAME.test(name));
    const shown = isSecret ? HIDDEN : withoutSecrets(member);
    isChanged ||= shown !== member;
    return [name, shown] as const;
  });
  return isChanged ? Object.fromEntries(members) : value;
}

/** Does a pointer of a patch lead to, or into, something hidden? */
function isSecretPath(path: string): boolean {
  const segments = path.split('/').slice(1);
  return segments.some((segment) => SECRET_NAME.test(segment)) || isHiddenPlace(segments);
}

/** Texts alone: a number or a list of references under such a name is no secret. */
function isText(value: Json): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every(isText) : typeof value === 'string' && value !== '';
}

function shownForm(text: string): string {
  if (!text.split('&').some((field) => SECRET_NAME.test(decoded(field.split('=', 1)[0] ?? '')))) return text;
  return text
    .split('&')
    .map((field) => {
      const [name = ''] = field.split('=', 1);
      return SECRET_NAME.test(decoded(name)) ? `${name}=${encodeURIComponent(HIDDEN)}` : field;
    })
    .join('&');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Undefined for what is no UTF-8; a cut may go through the midst of a character. */
function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
