/** The unproven claim of an Authorization header. */
type Claim = { scheme: 'bearer'; token: string } | { scheme: 'basic'; key: string; secret: string };

const HEADER = /^(bearer|basic) +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Reads `Bearer <token>` or `Basic base64(key:secret)`, the scheme in any case (D-172); undefined when it is neither. */
export function readAuthorization(header: string): Claim | undefined {
  const [, scheme, value] = HEADER.exec(header) ?? [];
  if (scheme === undefined || value === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', token: value };
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : { scheme: 'basic', key: pair.slice(0, colon), secret: pair.slice(colon + 1) };
}

/** Undoes the form encoding of OAuth clients in Basic (RFC 6749 section 2.3.1); the text itself if it has none. */
export function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
