/** What a list can be asked for: `status:error lambda:webform dur:>200 "some text" -trigger:async`. */
export interface QueryField<Row> {
  /** As it is typed, e.g. `dur`. */
  name: string;
  /** The value of a row: a number can be compared, of texts a part is enough; several texts: one has to fit. */
  valueOf(row: Row): string | number | undefined | readonly string[];
}

/** What is wrong with a query, and the offset in its text where. */
export interface QueryFault {
  message: string;
  at: number;
}

export type Query<Row> = { ok: true; matches(row: Row): boolean } | { ok: false; fault: QueryFault };

/** A term: `-`? (field `:` (`>` `>=` `<` `<=`)?)? (word or "words"). */
const TERM = /\s*(-?)(?:([a-z]+):(>=|<=|>|<)?)?("(?:[^"\\]|\\.)*"?|[^\s"]*)/giy;

interface Term {
  isNegative: boolean;
  field: string | undefined;
  comparison: string | undefined;
  value: string;
  at: number;
}

/**
 * Reads a query. All terms have to hold. A term without a field looks for its text in `textOf`; letter case does not matter.
 *
 * @param fields what can stand before a colon
 * @param textOf everything of a row that free text is looked for in
 */
export function parseQuery<Row>(
  text: string,
  fields: readonly QueryField<Row>[],
  textOf: (row: Row) => string,
): Query<Row> {
  const tests: ((row: Row) => boolean)[] = [];
  for (const term of termsOf(text)) {
    if ('message' in term) return { ok: false, fault: term };
    const test = testOf(term, fields, textOf);
    if (typeof test !== 'function') return { ok: false, fault: test };
    tests.push(term.isNegative ? (row) => !test(row) : test);
  }
  return { ok: true, matches: (row) => tests.every((test) => test(row)) };
}

function* termsOf(text: string): Generator<Term | QueryFault> {
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

function testOf<Row>(
  { field: name, comparison, value, at }: Term,
  fields: readonly QueryField<Row>[],
  textOf: (row: Row) => string,
): ((row: Row) => boolean) | QueryFault {
  const wanted = value.toLowerCase();
  if (name === undefined) return (row) => textOf(row).toLowerCase().includes(wanted);
  const field = fields.find((one) => one.name === name);
  if (!field) return { message: `there is no '${name}:', only ${fields.map((one) => `${one.name}:`).join(' ')}`, at };
  if (value === '') return { message: `say what '${name}:' shall be`, at };
  if (comparison !== undefined) {
    const limit = Number(value);
    if (Number.isNaN(limit)) return { message: `'${value}' is no number to compare with`, at };
    return (row) => {
      const actual = field.valueOf(row);
      return typeof actual === 'number' && compares(actual, comparison, limit);
    };
  }
  return (row) => {
    const actual = field.valueOf(row);
    if (typeof actual === 'number') return actual === Number(value);
    return [actual ?? []].flat().some((one) => one.toLowerCase().includes(wanted));
  };
}

function compares(actual: number, comparison: string, limit: number): boolean {
  if (comparison === '>') return actual > limit;
  if (comparison === '>=') return actual >= limit;
  if (comparison === '<') return actual < limit;
  return actual <= limit;
}
