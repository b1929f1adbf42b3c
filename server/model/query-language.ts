import { nearestNames } from './nearest.ts';

/** What a list can be asked for: `status:error lambda:webform dur:>200 time:>10m "some text" -trigger:async`. */
export interface QueryField<Row> {
  /** As it is typed, e.g. `dur`. */
  name: string;
  /** The value of a row: a number can be compared, of texts a part is enough; several texts: one has to fit. */
  valueOf(row: Row): string | number | undefined | readonly string[];
  /** All that it can be; undefined: anything. */
  words?: readonly string[];
  /** Is it a moment, in epoch milliseconds? It is compared with another: `time:>10m` is since ten minutes ago. */
  isMoment?: boolean;
}

/** What is wrong with a query, and the offset in its text where. */
export interface QueryFault {
  message: string;
  at: number;
}

/** What a query asks for; `fromMs`: nothing before that moment, so that a reader need not look there. */
export interface ReadQuery<Row> {
  matches(row: Row): boolean;
  fromMs: number;
}

export type Query<Row> = ({ ok: true } & ReadQuery<Row>) | { ok: false; fault: QueryFault };

export interface QueryLanguage<Row> {
  /** What can stand before a colon. */
  fields: readonly QueryField<Row>[];
  /** Everything of a row that free text is looked for in; what takes time to make comes last. */
  textsOf(row: Row): Iterable<string>;
  /** Epoch milliseconds that ages such as `10m` are counted from. */
  nowMs: number;
}

/** A term: `-`? (field `:` (`>` `>=` `<` `<=`)?)? (word or "words"). */
const TERM = /\s*(-?)(?:([a-z]+):(>=|<=|>|<)?)?("(?:[^"\\]|\\.)*"?|[^\s"]*)/giy;

interface Term {
  isNegative: boolean;
  field: string | undefined;
  comparison: string | undefined;
  value: string;
  at: number;
}

/** Reads a query. All terms have to hold. A term without a field looks for its text in `textsOf`; letter case does not matter. */
export function parseQuery<Row>(text: string, language: QueryLanguage<Row>): Query<Row> {
  const tests: ((row: Row) => boolean)[] = [];
  let fromMs = Number.NEGATIVE_INFINITY;
  for (const term of queryTerms(text)) {
    if ('message' in term) return { ok: false, fault: term };
    const test = testOf(term, language);
    if (typeof test !== 'function') return { ok: false, fault: test };
    tests.push(term.isNegative ? (row) => !test(row) : test);
    fromMs = Math.max(fromMs, beginningOf(term, language));
  }
  return { ok: true, matches: (row) => tests.every((test) => test(row)), fromMs };
}

/** The terms of a query, as far as it can be read; then what is wrong with the rest. */
export function* queryTerms(text: string): Generator<Term | QueryFault> {
  TERM.lastIndex = 0;
  while (TERM.lastIndex < text.length) {
    const from = TERM.lastIndex;
    const [whole = '', minus = '', field, comparison, raw = ''] = TERM.exec(text) ?? [];
    if (whole.trim() === '') {
      if (text.slice(from).trim() === '') return;
      yield { message: 'this cannot be read', at: from };
      return;
    }
    const at = from + whole.length - whole.trimStart().length;
    if (raw.startsWith('"') && !/^"(?:[^"\\]|\\.)*"$/.test(raw)) {
      yield { message: 'this quotation has no end', at: from + whole.length - raw.length };
      return;
    }
    const value = raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw;
    yield { isNegative: minus === '-', field: field?.toLowerCase(), comparison, value, at };
  }
}

function testOf<Row>(term: Term, language: QueryLanguage<Row>): ((row: Row) => boolean) | QueryFault {
  const { field: name, comparison, value, at } = term;
  const wanted = value.toLowerCase();
  if (name === undefined) return (row) => hasText(language.textsOf(row), wanted);
  const field = language.fields.find((one) => one.name === name);
  if (!field) return { message: unknownField(name, language.fields), at };
  if (value === '') return { message: `say what '${name}:' shall be`, at };
  if (field.isMoment) return momentTest(term, field, language.nowMs);
  if (comparison !== undefined) {
    const limit = Number(value);
    if (Number.isNaN(limit)) return { message: `'${value}' is no number to compare with`, at };
    return numberTest(field, comparison, limit);
  }
  const { words } = field;
  if (words && !words.some((word) => word.includes(wanted)))
    return { message: `'${name}:' is never '${value}'; ${meant(wanted, words)}${words.join(', ')}`, at };
  return (row) => {
    const actual = field.valueOf(row);
    if (typeof actual === 'number') return actual === Number(value);
    return [actual ?? []].flat().some((one) => one.toLowerCase().includes(wanted));
  };
}

function hasText(texts: Iterable<string>, wanted: string): boolean {
  for (const text of texts) if (text.toLowerCase().includes(wanted)) return true;
  return false;
}

function unknownField(name: string, fields: readonly QueryField<never>[]): string {
  const names = fields.map((one) => one.name);
  const list = names.map((one) => `${one}:`).join(' ');
  return `there is no '${name}:'; ${meant(name, names)}${list} - text with a colon stands in quotes`;
}

/** What was probably meant, then what introduces all that there is. */
function meant(written: string, known: readonly string[]): string {
  const [nearest] = nearestNames(written, known);
  return nearest === undefined ? 'there is ' : `did you mean '${nearest}'? There is `;
}

function momentTest<Row>(
  { field: name, comparison, value, at }: Term,
  field: QueryField<Row>,
  nowMs: number,
): ((row: Row) => boolean) | QueryFault {
  const limit = momentOf(value, nowMs);
  if (comparison === undefined || limit === undefined) {
    return {
      message: `write '${name}:>10m' for the last ten minutes, or '${name}:>2026-01-31T09:00' for since then`,
      at,
    };
  }
  return numberTest(field, comparison, limit);
}

const AGE = /^(\d+(?:\.\d+)?)(s|m|h|d)$/i;
const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The moment that an age (`90s`, `10m`, `2h`, `1d`) or an ISO time means, epoch milliseconds; undefined for neither. */
export function momentOf(text: string, nowMs: number): number | undefined {
  const [, amount, unit = ''] = AGE.exec(text) ?? [];
  if (amount !== undefined) return nowMs - Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0);
  const atMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** The moment before which no row can fit this term. */
function beginningOf<Row>({ field: name, comparison, value, isNegative }: Term, language: QueryLanguage<Row>): number {
  const isSince =
    !isNegative && comparison?.startsWith('>') && language.fields.find((one) => one.name === name)?.isMoment;
  return (isSince && momentOf(value, language.nowMs)) || Number.NEGATIVE_INFINITY;
}

function numberTest<Row>(field: QueryField<Row>, comparison: string, limit: number): (row: Row) => boolean {
  return (row) => {
    const actual = field.valueOf(row);
    return typeof actual === 'number' && compares(actual, comparison, limit);
  };
}

function compares(actual: number, comparison: string, limit: number): boolean {
  if (comparison === '>') return actual > limit;
  if (comparison === '>=') return actual >= limit;
  if (comparison === '<') return actual < limit;
  return actual <= limit;
}
