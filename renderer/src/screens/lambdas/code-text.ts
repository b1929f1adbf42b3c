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

/** A source as `code` wants it. */
export function codeOf(source: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(source)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
