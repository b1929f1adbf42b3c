/**
 * The text that a client meant: strict base64 of valid UTF-8 is decoded, anything else is the text itself (D-056, and
 * secret values by D-078).
 */
export function decodeText(sent: string): string {
  const bytes = Buffer.from(sent, 'base64');
  // Encoding again is the strictest test: alphabet, padding and unused bits.
  if (bytes.toString('base64') !== sent) return sent;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return sent;
  }
}

/** The same of a lambda's source, whose base64 may be wrapped: line breaks and spaces in it are ignored (D-056). */
export function decodeSource(sent: string): string {
  const joined = sent.replace(/\s+/g, '');
  const decoded = decodeText(joined);
  return decoded === joined ? sent : decoded;
}
