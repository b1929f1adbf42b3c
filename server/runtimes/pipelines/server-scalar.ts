/** Integers up to this are written without an exponent. */
const MAX_PLAIN = 1e16;

/**
 * Returns the YAML 1.2 text for a plain scalar that the server reads in another way, because it follows YAML 1.1 (Ruby's Psych);
 * undefined if both read the same. Null: the server does not accept it.
 */
export function serverScalar(text: string): string | null | undefined {
  if (/^(?:yes|on)$/i.test(text)) return 'true';
  if (/^(?:no|off)$/i.test(text)) return 'false';
  if (/^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt\s]+\d{1,2}:\d\d:\d\d)/.test(text)) return null;
  const digits = text.replace(/[_,]/g, '');
  if (/^[-+]?0[0-7_,]+$/.test(text)) return String(Number.parseInt(digits, 8));
  if (/^[-+]?(?:0|[1-9](?:[_,]?\d)*)$/.test(text)) return digits === text ? undefined : digits;
  if (/^[-+]?\d[\d_]*(?::[0-5]?\d){1,2}$/.test(text)) {
    // Hours and minutes, or hours, minutes and seconds, in seconds.
    const [hours = 0, minutes = 0, seconds = 0] = digits.split(':').map(Number);
    return String(hours * 3_600 + minutes * 60 + seconds);
  }
  if (/^[-+]?(?:\d[\d_,]*\.\d*|\.\d+)(?:e[-+]\d+)?$/i.test(text)) {
    const number = Number(digits);
    return Number.isInteger(number) && Math.abs(number) < MAX_PLAIN ? `"${number}.0"` : undefined;
  }
  // What only YAML 1.2 reads as a number.
  return /^[-+]?(?:0o[0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.[\d_]+)(?:e[-+]?\d+)?)$/i.test(text) ? `"${text}"` : undefined;
}
