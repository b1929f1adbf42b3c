import { invalid } from '../errors.ts';
import { isJsonObject, type Json, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import { isTypeNoun, isTypeWord, type TypeWord } from '../type-words.ts';

/** Invokes a lambda before or after an action (D-124). */
export const EVENT_RULE = 'Resource::Rule::Event';
/** Refuses actions that would violate a predicate (D-122). */
export const LIMIT_RULE = 'Resource::Rule::Limit';

type Rule = Pick<StoredResource, 'properties'>;

/** The left side of a predicate (D-123). */
type Term =
  | { kind: 'count'; word: TypeWord }
  | { kind: 'name'; singular: string }
  | { kind: 'property'; singular: string; path: readonly string[] };

type Test = (actual: Json, wanted: Json) => boolean;

interface Subject {
  singular: string;
  record: Pick<StoredResource, 'name' | 'properties'>;
  /** Number of resources of a type at the policy's node after the action. */
  count(word: TypeWord): number;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The number in a value, otherwise NaN, with which no comparison is true. */
function numberIn(value: Json): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

const equals: Test = (actual, wanted) => textOf(actual) === textOf(wanted);

const oneOf: Test = (actual, wanted) => {
  const list = Array.isArray(wanted)
    ? wanted
    : textOf(wanted)
        .split(',')
        .map((one) => one.trim());
  return list.some((one) => equals(actual, one));
};

const contains: Test = (actual, wanted) => {
  if (Array.isArray(actual)) return actual.some((one) => equals(one, wanted));
  return isJsonObject(actual) ? Object.hasOwn(actual, textOf(wanted)) : textOf(actual).includes(textOf(wanted));
};

const comparisons: Readonly<Record<string, Test>> = {
  '<': (actual, wanted) => numberIn(actual) < numberIn(wanted),
  '<=': (actual, wanted) => numberIn(actual) <= numberIn(wanted),
  '>': (actual, wanted) => numberIn(actual) > numberIn(wanted),
  '>=': (actual, wanted) => numberIn(actual) >= numberIn(wanted),
};

const operators: Readonly<Record<string, Test>> = {
  '==': equals,
  equals,
  '!=': (actual, wanted) => !equals(actual, wanted),
  ...comparisons,
  contains,
  startswith: (actual, wanted) => textOf(actual).startsWith(textOf(wanted)),
  endswith: (actual, wanted) => textOf(actual).endsWith(textOf(wanted)),
  inlist: oneOf,
  oneof: oneOf,
};

export const limitOperators: readonly string[] = Object.keys(operators);

function parseTerm(property: string): Term | undefined {
  const [head = '', member, ...path] = property.split('.');
  if (isTypeWord(head)) return member === 'count' && path.length === 0 ? { kind: 'count', word: head } : undefined;
  if (!isTypeNoun(head)) return undefined;
  if (member === 'name' && path.length === 0) return { kind: 'name', singular: head };
  const isProperty = member === 'properties' && path.length > 0 && path.every(Boolean);
  return isProperty ? { kind: 'property', singular: head, path } : undefined;
}

/** Parses the `eval_logic` of a Limit rule (D-122, D-123). Throws 400 for what it cannot compare. */
export function parsePredicate(evalLogic: Json | undefined): { term: Term; operator: string; value: Json } {
  const at = '/properties/eval_logic';
  const property = memberOf(evalLogic, 'property');
  const operator = memberOf(evalLogic, 'operator');
  const value = memberOf(evalLogic, 'value') ?? null;
  const term = typeof property === 'string' ? parseTerm(property) : undefined;
  if (!term) {
    const forms = '<plural>.count, <noun>.name or <noun>.properties.<path>';
    throw invalid(`${at}/property`, `must be ${forms}, e.g. container.properties.num_instances`);
  }
  if (typeof operator !== 'string' || !Object.hasOwn(operators, operator)) {
    throw invalid(`${at}/operator`, `must be one of ${Object.keys(operators).join(', ')}`);
  }
  if (Object.hasOwn(comparisons, operator) && Number.isNaN(numberIn(value))) {
    throw invalid(`${at}/value`, `must be a number for ${operator}`);
  }
  return { term, operator, value };
}

function actualValue(term: Term, { record, count }: Subject): Json | undefined {
  if (term.kind === 'count') return count(term.word);
  if (term.kind === 'name') return record.name;
  return term.path.reduce<Json | undefined>((at, member) => memberOf(at, member), record.properties);
}

/** Is a Limit rule's predicate true (D-122)? An absent property violates all operators except `!=`. Another noun's predicate is true. */
export function isWithinLimit(rule: Rule, subject: Subject): boolean {
  const { term, operator, value } = parsePredicate(rule.properties.eval_logic);
  if (term.kind !== 'count' && term.singular !== subject.singular) return true;
  const actual = actualValue(term, subject);
  if (actual === undefined || actual === null) return operator === '!=';
  return operators[operator]?.(actual, value) ?? false;
}

/** The predicate of a Limit rule for users, e.g. `container.properties.num_instances <= 4` (D-122). */
export function explainLimit(rule: Rule): string {
  const {
    property,
    operator,
    value = null,
  } = isJsonObject(rule.properties.eval_logic) ? rule.properties.eval_logic : {};
  return `${property} ${operator} ${Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)}`;
}

/** The actions that a rule matches, as written: `<noun>.<verb>`, `.pre` or `.post` (D-076, D-121). */
export function matchedActions(rule: Rule): string[] {
  const { match_actions: matched, actions } = rule.properties;
  const written = Array.isArray(matched) ? matched.map((one) => memberOf(one, 'action')) : actions;
  return Array.isArray(written) ? written.filter((one) => typeof one === 'string') : [];
}

/** Does a rule suppress that action, e.g. `container.create.pre` (D-127)? */
export function suppresses(rule: Rule, action: string): boolean {
  const { match_actions: matched } = rule.properties;
  return (
    Array.isArray(matched) &&
    matched.some((one) => memberOf(one, 'action') === action && memberOf(one, 'meta_function') === 'suppress')
  );
}
