import { nearestNames } from './nearest.ts';

/** The query language of lists: `status:error lambda:webform dur:>200 time:>10m "some text" -trigger:async`. */
export interface QueryField<Row> {
  name: string;
  /** The value of a row: numbers can be compared, texts match by a part; of several texts one must match. */
  valueOf(row: Row): string | number | undefined | readonly string[];
  allowedValues?: readonly string[];
  /** Is the value a time in epoch milliseconds? Ages are compared with it: `time:>10m` means the last ten minutes. */
  isMoment?: boolean;
}

export interface QueryFault {
  message: string;
  at: number;
}

/** A parsed query; no row before `fromMs` or after `toMs` can match, so that readers can skip those. */
export interface ReadQuery<Row> {
  matches(row: Row): boolean;
  fromMs: number;
  toMs: number;
}

export type Query<Row> = ({ ok: true } & ReadQuery<Row>) | { ok: false; fault: QueryFault };

export interface QueryLanguage<Row> {
  fields: readonly QueryField<Row>[];
  /** The texts of a row for free-text search, cheap ones first. */
  textsOf(row: Row): Iterable<string>;
  /** The reference for ages such as `10m`, epoch milliseconds. */
  nowMs: number;
}

/** Each term looks through the whole text of each record. */
const MAX_TERMS = 20;

/** A term: `-`? (field `:` (`>` `>=` `<` `<=`)?)? (word or "words"). */
const TERM = /\s*(-?)(?:([a-z]+):(>=|<=|>|<)?)?("(?:[^"\\]|\\.)*"?|[^\s"]*)/giy;

interface Term {
  isNegative: boolean;
  field: string | undefined;
  comparison: string | undefined;
  value: string;
  at: number;
}

/** Parses a query. All terms must match. A term without a field searches its text in `textsOf`; letter case does not matter. */
export function parseQuery<Row>(text: string, language: QueryLanguage<Row>): Query<Row> {
  const tests: ((row: Row) => boolean)[] = [];
  let [fromMs, toMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const writtenTerm of queryTerms(text)) {
    if (tests.length === MAX_TERMS)
      return { ok: false, fault: { message: `a search has at most ${MAX_TERMS} terms`, at: 0 } };
    if ('message' in writtenTerm) return { ok: false, fault: writtenTerm };
    const term = withMoment(writtenTerm, language);
    const test = testOf(term, language);
    if (typeof test !== 'function') return { ok: false, fault: test };
    tests.push(term.isNegative ? (row) => !test(row) : test);
    fromMs = Math.max(fromMs, limitOf(term, '>', language) ?? fromMs);
    toMs = Math.min(toMs, limitOf(term, '<', language) ?? toMs);
  }
  return { ok: true, matches: (row) => tests.every((test) => test(row)), fromMs, toMs };
}

const COMPARISONS: Partial<Record<string, '>=' | '<'>> = { since: '>=', until: '<' };

/** Reads `since:1h` as `time:>=1h`, and `until:` likewise, in languages with a field that is a moment. */
function withMoment<Row>(term: Term, { fields }: QueryLanguage<Row>): Term {
  const comparison = term.comparison === undefined ? COMPARISONS[term.field ?? ''] : undefined;
  const moment = comparison && fields.find(({ isMoment }) => isMoment);
  return moment ? { ...term, field: moment.name, comparison } : term;
}

export function* queryTerms(text: string): Generator<Term | QueryFault> {
  TERM.lastIndex = 0;
  while (TERM.lastIndex < text.length) {
    const from = TERM.lastIndex;
    const [match = '', minus = '', field, comparison, raw = ''] = TERM.exec(text) ?? [];
    if (match.trim() === '') {
      if (text.slice(from).trim() === '') return;
      yield { message: 'this term is not valid', at: from };
      return;
    }
    const at = from + match.length - match.trimStart().length;
    if (raw.startsWith('"') && !/^"(?:[^"\\]|\\.)*"$/.test(raw)) {
      yield { message: 'the quotation mark is not closed', at: from + match.length - raw.length };
      return;
    }
    const value = raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw;
    yield { isNegative: minus === '-', field: field?.toLowerCase(), comparison, value, at };
  }
}

function testOf<Row>(term: Term, language: QueryLanguage<Row>): ((row: Row) => boolean) | QueryFault {
  const { field: name, comparison, value, at } = term;
  const lowerCaseValue = value.toLowerCase();
  if (name === undefined) return (row) => hasText(language.textsOf(row), lowerCaseValue);
  const field = language.fields.find((candidate) => candidate.name === name);
  if (!field) return { message: unknownField(name, language.fields), at };
  if (value === '') return { message: `a value is missing after '${name}:'`, at };
  if (field.isMoment) return momentTest(term, field, language.nowMs);
  if (comparison !== undefined) {
    const limit = Number(value);
    if (Number.isNaN(limit)) return { message: `'${value}' is not a number`, at };
    return numberTest(field, comparison, limit);
  }
  const { allowedValues } = field;
  if (allowedValues && !allowedValues.some((allowedValue) => allowedValue.includes(lowerCaseValue)))
    return {
      message: `'${name}:' cannot be '${value}'; ${describeValidValues(lowerCaseValue, allowedValues)}${allowedValues.join(', ')}`,
      at,
    };
  return (row) => {
    const actual = field.valueOf(row);
    if (typeof actual === 'number') return actual === Number(value);
    const texts = typeof actual === 'string' ? [actual] : (actual ?? []);
    return texts.some((actualText) => actualText.toLowerCase().includes(lowerCaseValue));
  };
}

function hasText(texts: Iterable<string>, searchText: string): boolean {
  for (const text of texts) if (text.toLowerCase().includes(searchText)) return true;
  return false;
}

function unknownField(name: string, fields: readonly QueryField<never>[]): string {
  const names = fields.map((field) => field.name);
  const list = names.map((fieldName) => `${fieldName}:`).join(' ');
  return `the field '${name}:' does not exist; ${describeValidValues(name, names)}${list} - put text with a colon in quotes`;
}

function describeValidValues(written: string, validValues: readonly string[]): string {
  const [nearest] = nearestNames(written, validValues);
  return nearest === undefined ? 'valid values: ' : `did you mean '${nearest}'? Valid values: `;
}

function momentTest<Row>(
  { comparison, value, at }: Term,
  field: QueryField<Row>,
  nowMs: number,
): ((row: Row) => boolean) | QueryFault {
  const limit = momentOf(value, nowMs);
  if (comparison === undefined || limit === undefined) {
    return {
      message: `write 'since:10m' for the last ten minutes, or 'since:2026-01-31T09:00' for since then`,
      at,
    };
  }
  return numberTest(field, comparison, limit);
}

const AGE = /^(\d+(?:\.\d+)?)(s|m|h|d)$/i;
const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time of an age (`90s`, `10m`, `2h`, `1d`) or an ISO time in epoch milliseconds; undefined if invalid. */
export function momentOf(text: string, nowMs: number): number | undefined {
  const [, amount, unit = ''] = AGE.exec(text) ?? [];
  if (amount !== undefined) return nowMs - Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0);
  const atMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** The time before (`>`) or after (`<`) which no row can match this term; undefined if it limits nothing. */
function limitOf<Row>(
  { field: name, comparison, value, isNegative }: Term,
  side: '<' | '>',
  language: QueryLanguage<Row>,
): number | undefined {
  const isLimit =
    !isNegative && comparison?.startsWith(side) && language.fields.find((field) => field.name === name)?.isMoment;
  return isLimit ? momentOf(value, language.nowMs) : undefined;
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
