/** A term of a query that represents itself: `time:>10m`, `status:error`. */
const TERM = /(^|\s)(-?)([a-z]+):((?:>=|<=|>|<)?)("(?:[^"\\]|\\.)*"|\S+)/gi;

/** The terms of a field in a query, as they are written. */
export function termsOf(q: string, field: string): string[] {
  return [...q.matchAll(TERM)].filter(([, , , name]) => name === field).map(([match]) => match.trim());
}

/** The query with these terms of a field in place of those that it had. */
export function withTerms(q: string, field: string, terms: readonly string[]): string {
  const rest = q.replace(TERM, (match: string, _space, _minus, name) => (name === field ? '' : match)).trim();
  return [...(rest === '' ? [] : [rest]), ...terms].join(' ');
}

/** The query with a term, or without it when it has it. */
export function toggledTerm(q: string, term: string): string {
  const [field = ''] = term.split(':');
  return withTerms(q, field, termsOf(q, field).includes(term) ? [] : [term]);
}
