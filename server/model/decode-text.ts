/** Decodes strict base64 of valid UTF-8, and returns any other text unchanged (D-056, and D-078 for values of secrets). */
export function decodeText(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  // Re-encoding checks everything: alphabet, padding and unused bits.
  if (bytes.toString('base64') !== text) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return text;
  }
}

/** Decodes the source of a lambda, in which base64 may contain line breaks and spaces (D-056). */
export function decodeSource(text: string): string {
  const joined = text.replace(/\s+/g, '');
  const decoded = decodeText(joined);
  return decoded === joined ? text : decoded;
}
