import { readableCode } from '../lambdas/code-text.ts';

/** A variable that differs between two records; undefined in a record that lacks it. */
export interface VariableDifference {
  name: string;
  before: string | undefined;
  after: string | undefined;
}

/** The differences between two records of a resource, in the parts that people read. */
export interface RecordParts {
  /** Its source, where that differs. */
  code: { before: string; after: string } | undefined;
  variables: VariableDifference[];
  /** Everything else as JSON, where that differs in more than when it was changed. */
  rest: { before: string; after: string } | undefined;
}

type Properties = Record<string, unknown>;

/** @param before undefined: there was none; likewise `after` */
export function partsOf(before: unknown, after: unknown): RecordParts {
  const [were, are] = [propertiesOf(before), propertiesOf(after)];
  const source = { before: textOf(were.code) ?? '', after: textOf(are.code) ?? '' };
  const readable = { before: readableCode(source.before), after: readableCode(source.after) };
  const rest = { before: restOf(before), after: restOf(after) };
  return {
    // Two packages of one size read the same.
    code: readable.before !== readable.after ? readable : source.before !== source.after ? source : undefined,
    variables: variablesThatDiffer(were.env, are.env),
    rest: restOf(before, true) === restOf(after, true) ? undefined : rest,
  };
}

function propertiesOf(record: unknown): Properties {
  return objectIn(objectIn(record).properties);
}

function objectIn(value: unknown): Properties {
  return typeof value === 'object' && value !== null ? (value as Properties) : {}; // its members stay unknown
}

function textOf(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

function variablesThatDiffer(before: unknown, after: unknown): VariableDifference[] {
  const [were, are] = [objectIn(before), objectIn(after)];
  return [...new Set([...Object.keys(were), ...Object.keys(are)])]
    .sort()
    .map((name) => ({ name, before: textOf(were[name]), after: textOf(are[name]) }))
    .filter((variable) => variable.before !== variable.after);
}

/** The record without the parts that are shown separately; '' if nothing is left. */
function restOf(record: unknown, isCompared = false): string {
  if (record === undefined || record === null) return '';
  const { code: _code, env: _env, ...properties } = propertiesOf(record);
  const { modified, ...otherFields } = objectIn(record);
  return JSON.stringify({ ...otherFields, ...(!isCompared && { modified }), properties }, null, 2);
}
