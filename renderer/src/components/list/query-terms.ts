/** The fields that limit the time of a list. */
export const TIME_FIELDS = ['since', 'until', 'time'];

/** A term of a query that represents itself: `since:10m`, `status:error`. */
const TERM = /(^|\s)(-?)([a-z]+):((?:>=|<=|>|<)?)("(?:[^"\\]|\\.)*"|\S+)/gi;

/** The terms of a field, or of several, in a query, as they are written. */
export function termsOf(q: string, field: string | readonly string[]): string[] {
  return [...q.matchAll(TERM)]
    .filter(([, , , name = '']) => [field].flat().includes(name))
    .map(([match]) => match.trim());
}

/** The query with these terms of a field, or of several, in place of those that it had. */
export function withTerms(q: string, field: string | readonly string[], terms: readonly string[]): string {
  const isReplaced = (name: string) => [field].flat().includes(name);
  const rest = q.replace(TERM, (match: string, _space, _minus, name: string) => (isReplaced(name) ? '' : match)).trim();
  return [...(rest === '' ? [] : [rest]), ...terms].join(' ');
}

/** The query with a term, or without it when it has it. */
export function toggledTerm(q: string, term: string): string {
  const [field = ''] = term.split(':');
  return withTerms(q, field, termsOf(q, field).includes(term) ? [] : [term]);
}
