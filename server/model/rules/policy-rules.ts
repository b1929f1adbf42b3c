import { invalid } from '../errors.ts';
import { elementsOf, isJsonObject, type Json, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import { isTypeNoun, isTypeWord, type TypeWord } from '../type-words.ts';

/** Invokes a lambda before or after an action (D-124). */
export const EVENT_RULE = 'Resource::Rule::Event';
/** Refuses actions that would violate a predicate (D-122). */
export const LIMIT_RULE = 'Resource::Rule::Limit';

type Rule = Pick<StoredResource, 'properties'>;

/** The left side of a predicate (D-123). */
type Term =
  | { kind: 'count'; collection: TypeWord }
  | { kind: 'name'; singular: string }
  | { kind: 'property'; singular: string; path: readonly string[] };

type Test = (actual: Json, expectedValue: Json) => boolean;

interface Subject {
  singular: string;
  record: Pick<StoredResource, 'name' | 'properties'>;
  /** Number of resources of a type at the policy's node after the action. */
  count(collection: TypeWord): number;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The number in a value, otherwise NaN, with which no comparison is true. */
function numberIn(value: Json): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

const equals: Test = (actual, expectedValue) => textOf(actual) === textOf(expectedValue);

const oneOf: Test = (actual, expectedValue) => {
  const list = Array.isArray(expectedValue)
    ? expectedValue
    : textOf(expectedValue)
        .split(',')
        .map((itemText) => itemText.trim());
  return list.some((allowedValue) => equals(actual, allowedValue));
};

const contains: Test = (actual, expectedValue) => {
  if (Array.isArray(actual)) return actual.some((element) => equals(element, expectedValue));
  return isJsonObject(actual)
    ? Object.hasOwn(actual, textOf(expectedValue))
    : textOf(actual).includes(textOf(expectedValue));
};

const comparisons: Readonly<Record<string, Test>> = {
  '<': (actual, expectedValue) => numberIn(actual) < numberIn(expectedValue),
  '<=': (actual, expectedValue) => numberIn(actual) <= numberIn(expectedValue),
  '>': (actual, expectedValue) => numberIn(actual) > numberIn(expectedValue),
  '>=': (actual, expectedValue) => numberIn(actual) >= numberIn(expectedValue),
};

const operators: Readonly<Record<string, Test>> = {
  '==': equals,
  equals,
  '!=': (actual, expectedValue) => !equals(actual, expectedValue),
  ...comparisons,
  contains,
  startswith: (actual, expectedValue) => textOf(actual).startsWith(textOf(expectedValue)),
  endswith: (actual, expectedValue) => textOf(actual).endsWith(textOf(expectedValue)),
  inlist: oneOf,
  oneof: oneOf,
};

export const limitOperators: readonly string[] = Object.keys(operators);

function parseTerm(property: string): Term | undefined {
  const [head = '', member, ...path] = property.split('.');
  if (isTypeWord(head))
    return member === 'count' && path.length === 0 ? { kind: 'count', collection: head } : undefined;
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
  if (term.kind === 'count') return count(term.collection);
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
  const written = Array.isArray(matched) ? matched.map((matchedAction) => memberOf(matchedAction, 'action')) : actions;
  return Array.isArray(written) ? written.filter((action) => typeof action === 'string') : [];
}

/** True if a rule suppresses that action, e.g. `container.create.pre` (D-127). */
export function suppresses(rule: Rule, action: string): boolean {
  return elementsOf(rule.properties.match_actions).some(
    (matchedAction) =>
      memberOf(matchedAction, 'action') === action && memberOf(matchedAction, 'meta_function') === 'suppress',
  );
}
