import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import type { OutboundBody as OutboundBodyView } from '../../api/routes/logs.ts';
import type { RecordedBody } from '../../api/schemas/parts.ts';
import { type CapturedBody, MAX_CAPTURED_BYTES } from '../../model/exchange-record.ts';
import type { OutboundBody } from '../../model/invocation.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { HIDDEN, isHiddenPlace } from '../../model/rules/masking.ts';
import { formDecoded } from '../../services/security/authenticator.ts';

/** Names whose values are hidden: in JSON, forms and queries. */
const SECRET_NAME =
  /pass(word|phrase)|secret|(^|[_-])(access|refresh|id|private|auth|bearer|api|session)?[_-]?token$|credential|api[_-]?key|private[_-]?key|^authorization$|^creds$|^code$/i;
/** In other JSON nothing has to be hidden, and it need not be parsed: the names above, escaped letters, items with a key, patches. */
const MAY_HAVE_SECRETS =
  /pass(word|phrase)|secret|token|credential|api[_-]?key|private[_-]?key|authorization|"(creds|code|key|path)"|\\u/i;
/** Headers of which only the scheme is shown, not the value after it. */
const SECRET_HEADER = /^(proxy-)?authorization$/i;
const HIDDEN_HEADER = /^(set-)?cookie$|token|secret|api-?key/i;
const FORM = 'application/x-www-form-urlencoded';
const TEXTUAL = /^text\/|json|xml|javascript|urlencoded|graphql|yaml/i;

/** The value of a header; of credentials only the kind is shown. */
export function toHeaderView(name: string, value: string): string {
  const kind = kindOfHeader(name);
  if (kind === 'shown') return value;
  const [, scheme = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(value) ?? [];
  return kind === 'hidden' || rest === '' ? HIDDEN : `${scheme} ${HIDDEN}`;
}

type HeaderKind = 'shown' | 'hidden' | 'scheme';
/** Kinds of header names. The same names come with every request, and matching them takes a tenth of recording it. */
const headerKinds = new Map<string, HeaderKind>();
const MAX_HEADER_KINDS = 500;

function kindOfHeader(name: string): HeaderKind {
  const cachedKind = headerKinds.get(name);
  if (cachedKind !== undefined) return cachedKind;
  const kind = SECRET_HEADER.test(name) ? 'scheme' : HIDDEN_HEADER.test(name) ? 'hidden' : 'shown';
  if (headerKinds.size < MAX_HEADER_KINDS) headerKinds.set(name, kind);
  return kind;
}

/** A request target whose query tells no secrets. */
export function toTargetView(target: string): string {
  if (!target.includes('?')) return target;
  const [path = '', ...query] = target.split('?');
  return `${path}?${toFormView(query.join('?'))}`;
}

/** The value of a header, whatever its case. */
export function headerIn(lines: readonly string[], name: string): string | undefined {
  for (let at = 0; at < lines.length; at += 2) if (lines[at]?.toLowerCase() === name) return lines[at + 1];
  return undefined;
}

/** A body as text or base64, with passwords and tokens hidden. @param contentType without it, whatever looks like text is text */
export function toBodyView(
  { bytes, sizeBytes, isWhole }: CapturedBody & { isWhole?: boolean },
  contentType: string | undefined,
): RecordedBody {
  const isCut = sizeBytes > bytes.length && !isWhole;
  const text = contentType === undefined || TEXTUAL.test(contentType) ? textOf(bytes, isCut) : undefined;
  const content =
    text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text: toTextView(text, contentType) };
  return { sizeBytes, ...(isCut && { isCut }), ...content };
}

/** A body as it may be shown that went over the wire, decompressed where it can be; `sizeBytes` is that of what was sent. */
export function toWireBodyView({ contentType, contentEncoding, ...body }: OutboundBody): OutboundBodyView {
  const encoding = contentEncoding?.trim().toLowerCase();
  if (!encoding || encoding === 'identity') return toBodyView(body, contentType);
  const plain = decompressed(body.bytes, encoding);
  if (!plain) return { ...toBodyView(body, 'application/octet-stream'), encoding };
  const isCut = body.sizeBytes > body.bytes.length || plain.length > MAX_CAPTURED_BYTES;
  const bytes = plain.subarray(0, MAX_CAPTURED_BYTES);
  const view = toBodyView({ bytes, sizeBytes: isCut ? bytes.length + 1 : bytes.length }, contentType);
  return { ...view, sizeBytes: body.sizeBytes, encoding };
}

/** Most that a body is let grow to when it is decompressed. */
const MAX_PLAIN_BYTES = 16 * MAX_CAPTURED_BYTES;

/** Undefined if it cannot be decompressed. A truncated body is decompressed as far as possible. */
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

/** Text of a body, as it is shown and searched; empty if the body is not text. */
export function toTextOfView(body: CapturedBody, contentType: string | undefined): string {
  return toBodyView(body, contentType).text ?? '';
}

/** Text of a body as people read it: without secrets, with the values of forms and JSON decoded. */
export function toSearchedText(bodyText: string | undefined, contentType: string | undefined): string {
  if (bodyText === undefined) return '';
  if (isForm(contentType)) return bodyText.split('&').map(formDecoded).join('\n');
  return bodyText.includes('\\')
    ? `${bodyText}\n${bodyText.replace(ESCAPED, (escaped) => JSON.parse(`"${escaped}"`))}`
    : bodyText;
}

/** A character of JSON that is written with a backslash. */
const ESCAPED = /\\(?:u[\da-f]{4}|["\\/nrt])/gi;

const isForm = (contentType: string | undefined) => contentType?.toLowerCase().startsWith(FORM) === true;

/** Text of a body with its secrets hidden; the very same text when it has none. */
function toTextView(text: string, contentType: string | undefined): string {
  if (isForm(contentType)) return toFormView(text);
  if (!/^\s*[[{]/.test(text) || !MAY_HAVE_SECRETS.test(text)) return text;
  try {
    const value: Json = JSON.parse(text);
    const publicValue = withoutSecrets(value);
    return publicValue === value ? text : JSON.stringify(publicValue);
  } catch {
    // Cut off, or no JSON after all: what looks like a member with a secret name.
    return text.replace(/"([^"\\]{1,64})"\s*:\s*"(?:[^"\\]|\\.)*("|$)/g, (member, name: string) =>
      SECRET_NAME.test(name) ? `"${name}":"${HIDDEN}"` : member,
    );
  }
}

export function toTextsView(name: string, texts: readonly string[]): string[] {
  return texts.map((text) => (text !== '' && SECRET_NAME.test(name) ? HIDDEN : text));
}

/** Returns the value without its secrets; the same object if there are none. */
export function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) {
    const publicItems = value.map(withoutSecrets);
    return publicItems.every((item, at) => item === value[at]) ? value : publicItems;
  }
  if (!isJsonObject(value)) return value;
  // The items of a secret: a key may be read, its value may not.
  const isItem = typeof value.key === 'string' && 'value' in value;
  const isHiddenChange = typeof value.path === 'string' && isSecretPath(value.path);
  let isChanged = false;
  const members = Object.entries(value).map(([name, member]) => {
    const isSecret = (name === 'value' && (isItem || isHiddenChange)) || (isText(member) && SECRET_NAME.test(name));
    const publicMember = isSecret ? HIDDEN : withoutSecrets(member);
    isChanged ||= publicMember !== member;
    return [name, publicMember] as const;
  });
  return isChanged ? Object.fromEntries(members) : value;
}

/** True if a pointer of a patch leads to, or into, a secret. */
function isSecretPath(path: string): boolean {
  const segments = path.split('/').slice(1);
  return segments.some((segment) => SECRET_NAME.test(segment)) || isHiddenPlace(segments);
}

/** Texts alone: a number or a list of references under such a name is no secret. */
function isText(value: Json): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every(isText) : typeof value === 'string' && value !== '';
}

function toFormView(text: string): string {
  if (!text.split('&').some((field) => SECRET_NAME.test(formDecoded(field.split('=', 1)[0] ?? '')))) return text;
  return text
    .split('&')
    .map((field) => {
      const [name = ''] = field.split('=', 1);
      return SECRET_NAME.test(formDecoded(name)) ? `${name}=${encodeURIComponent(HIDDEN)}` : field;
    })
    .join('&');
}

/** Undefined for what is no UTF-8; a cut may go through the midst of a character. */
function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  if (!isCut) return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() : undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
