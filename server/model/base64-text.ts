/** Decodes strict base64 of valid UTF-8, and returns any other text unchanged (D-056, and D-078 for values of secrets). */
export function decodeText(sent: string): string {
  const bytes = Buffer.from(sent, 'base64');
  // Re-encoding checks everything: alphabet, padding and unused bits.
  if (bytes.toString('base64') !== sent) return sent;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return sent;
  }
}

/** The same for the source of a lambda, which ignores line breaks and spaces in base64 (D-056). */
export function decodeSource(sent: string): string {
  const joined = sent.replace(/\s+/g, '');
  const decoded = decodeText(joined);
  return decoded === joined ? sent : decoded;
}
