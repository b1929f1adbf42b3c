import { invalid } from './errors.ts';
import { isJsonObject, type Json, memberOf } from './json.ts';
import type { StoredResource } from './record.ts';
import { isTypeNoun, isTypeWord, type TypeWord } from './type-words.ts';

/** Invokes a lambda around an action (D-124). */
export const EVENT_RULE = 'Resource::Rule::Event';
/** Keeps an action from breaking a predicate (D-122). */
export const LIMIT_RULE = 'Resource::Rule::Limit';

/** What is read of a rule. */
type Rule = Pick<StoredResource, 'properties'>;

/** What a predicate compares (D-123). */
type Term =
  | { kind: 'count'; word: TypeWord }
  | { kind: 'name'; noun: string }
  | { kind: 'property'; noun: string; path: readonly string[] };

type Test = (actual: Json, wanted: Json) => boolean;

/** A parsed `eval_logic`. */
interface Predicate {
  term: Term;
  operator: string;
  value: Json;
}

/** What an action would leave, as far as a predicate looks at it. */
interface Subject {
  /** Noun of the record's type. */
  noun: string;
  /** The record that would result. */
  record: Pick<StoredResource, 'name' | 'properties'>;
  /** How many of a type word there are at the policy's node once the action is done. */
  count(word: TypeWord): number;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The number that a value is or spells, else NaN, with which no comparison holds. */
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

/** What a Limit rule can compare with (D-123). */
export const limitOperators: readonly string[] = Object.keys(operators);

function parseTerm(property: string): Term | undefined {
  const [head = '', member, ...path] = property.split('.');
  if (isTypeWord(head)) return member === 'count' && path.length === 0 ? { kind: 'count', word: head } : undefined;
  if (!isTypeNoun(head)) return undefined;
  if (member === 'name' && path.length === 0) return { kind: 'name', noun: head };
  const isProperty = member === 'properties' && path.length > 0 && path.every(Boolean);
  return isProperty ? { kind: 'property', noun: head, path } : undefined;
}

/**
 * Reads the `eval_logic` of a Limit rule (D-122, D-123).
 *
 * @throws PlatformError 400 for an unknown form of property, an unknown operator, or a comparison with what is no number
 */
export function parsePredicate(evalLogic: Json | undefined): Predicate {
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

/**
 * Does a Limit rule's predicate hold (D-122)? An absent property satisfies `!=` and violates every other operator.
 * A predicate on another noun than the subject's says nothing about it, and so holds.
 */
export function limitHolds(rule: Rule, subject: Subject): boolean {
  const { term, operator, value } = parsePredicate(rule.properties.eval_logic);
  if (term.kind !== 'count' && term.noun !== subject.noun) return true;
  const actual = actualValue(term, subject);
  if (actual === undefined || actual === null) return operator === '!=';
  return operators[operator]?.(actual, value) ?? false;
}

/** A Limit rule's predicate as a person reads it, e.g. `container.properties.num_instances <= 4` (D-122). */
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
