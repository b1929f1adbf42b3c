import { bytesText } from '../../components/amounts.ts';

/** The source in a lambda's `code`, which is base64 of it or the source itself (as the server tells them apart). */
export function sourceOf(code: unknown): string {
  if (typeof code !== 'string') return '';
  const packed = code.replace(/\s/g, '');
  if (packed === '' || packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(packed)) return code;
  try {
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return code;
  }
}

/** A lambda's `code` to read: its source, or of a packed folder how large it is. */
export function readableCode(code: unknown): string {
  const source = sourceOf(code);
  const isPacked = source === code && source.length > 200 && /^[A-Za-z0-9+/\s]+={0,2}$/.test(source);
  return isPacked ? `(a package of ${bytesText((source.replace(/\s/g, '').length * 3) / 4)})` : source;
}

/** A source as `code` wants it. */
export function codeOf(source: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(source)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
