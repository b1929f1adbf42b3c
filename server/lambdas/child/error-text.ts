const { stringify } = JSON;

/** The text of whatever was thrown, rejected with or called back as an error, without a stack trace (D-139). */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) {
      const name = 'name' in thrown ? String(thrown.name) : 'Error';
      return String(thrown.message) || name;
    }
    return stringify(thrown) ?? String(thrown);
  } catch {
    return 'an error that cannot be shown as text';
  }
}

/** What goes to the log for it: the stack trace of an error object. */
export function traceOf(thrown: unknown): string | undefined {
  try {
    if (typeof thrown === 'object' && thrown !== null && 'stack' in thrown) return String(thrown.stack);
  } catch {
    // A getter that throws: there is no trace then.
  }
  return undefined;
}
