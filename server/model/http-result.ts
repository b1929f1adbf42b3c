/** The status in an http-aware result: a whole number from 200 to 599, or a string of its three digits (D-140). */
export function statusIn(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined;
}
