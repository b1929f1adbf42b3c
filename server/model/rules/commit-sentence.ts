import type { Operation } from 'fast-json-patch';
import type { Commit } from '../commit.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { segmentsOf } from '../patch/pointer.ts';
import type { Uuid } from '../record.ts';
import { isHiddenPlace } from './masking.ts';

const MAX_CHANGES = 3;
/** A longer value says nothing in a sentence. */
const MAX_VALUE = 40;
const UNITS: Readonly<Record<string, string>> = { timeout: ' s', memory: ' MB' };

/** The beginnings of notes, and the verbs for them. */
const VERBS = { 'revert of': 'reverted', 'restore of': 'restored', 'reset to': 'reset the world to' };

function predicateOf(note: string): string {
  for (const [start, verb] of Object.entries(VERBS))
    if (note.startsWith(start)) return ` ${verb}${note.slice(start.length)}`;
  return `: ${note}`;
}

/** Describes a commit as a sentence: `root changed contact-form: timeout 5 → 10 s`. */
export function commitSentence(commit: Commit): string {
  const { cause, resources } = commit;
  const through = cause.via === 'api' || cause.via === 'ui' ? '' : ` (${cause.via})`;
  const actorText = `${cause.actor?.name ?? 'The platform'}${through}`;
  if (cause.note !== undefined) return `${actorText}${predicateOf(cause.note)}`;
  const [first, ...otherResources] = resources;
  if (!first) return `${actorText}: ${cause.action ?? 'a change'}`;
  const resourceName = first.path === '/' ? 'the root organization' : first.name;
  const more = otherResources.length === 0 ? '' : ` and ${otherResources.length} more`;
  const summary = changeSummary(commit, first.id);
  if (summary.includes('created it')) return `${actorText} created ${resourceName}${more}`;
  if (summary.includes('removed it')) return `${actorText} deleted ${resourceName}${more}`;
  const values = valueChanges(commit, first.id);
  const changes = [...values.texts, ...summary.filter((change) => !values.summaryTexts.has(change))];
  const shownChanges = changes.slice(0, MAX_CHANGES).join(', ');
  const remainder = changes.length > MAX_CHANGES ? ` and ${changes.length - MAX_CHANGES} more` : '';
  return `${actorText} changed ${resourceName}${more}${shownChanges === '' ? '' : `: ${shownChanges}${remainder}`}`;
}

/** The properties that were changed from one short value to another, and what the summary calls those changes. */
function valueChanges({ ops, inverse }: Commit, id: Uuid): { texts: string[]; summaryTexts: Set<string> } {
  const texts: string[] = [];
  const summaryTexts = new Set<string>();
  for (const operation of ops) {
    const segments = segmentsOf(operation.path);
    const [, resourceId, member, property, ...rest] = segments;
    if (resourceId !== id || member !== 'properties' || property === undefined || rest.length > 0) continue;
    if (operation.op === 'remove' || isHiddenPlace(segments.slice(2))) continue;
    const name = property.replaceAll('_', ' ');
    const after = shortValue(operation);
    const before = shortValue(inverse.find(({ path }) => path === operation.path));
    if (after === undefined || property === 'code') continue;
    texts.push(`${name} ${before === undefined ? '' : `${before} → `}${after}${UNITS[property] ?? ''}`);
    summaryTexts.add(`${verbOf(operation)} ${name}`);
  }
  return { texts, summaryTexts };
}

function shortValue(operation: Operation | undefined): string | undefined {
  const value: unknown = operation && 'value' in operation ? operation.value : undefined;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = String(value);
  return text === '' || text.length > MAX_VALUE || text.includes('\n') ? undefined : text;
}

/**
 * Describes the changes that a commit made to a resource.
 * @param onlyProperty leaves out the changes of all other properties
 */
export function changeSummary({ ops, inverse }: Commit, id: Uuid, onlyProperty?: string): string[] {
  const changes = ops.flatMap((operation) => {
    const [, resourceId, member, property, ...rest] = segmentsOf(operation.path);
    if (resourceId !== id) return [];
    if (member === undefined) return onlyProperty ? [] : [operation.op === 'remove' ? 'removed it' : 'created it'];
    if (member !== 'properties') return onlyProperty || member === 'modified' ? [] : [`changed its ${member}`];
    if (property === undefined) return [];
    if (onlyProperty !== undefined && property !== onlyProperty) return [];
    if (property === 'env') return variableChanges(operation, rest[0], inverse);
    const name = property === 'code' ? 'the code' : property.replaceAll('_', ' ');
    return [`${verbOf(operation)} ${name}`];
  });
  return [...new Set(changes)];
}

/**
 * Describes the variables that an operation set, changed or removed. The operation writes one variable, or replaces all
 * of them.
 */
function variableChanges(operation: Operation, name: string | undefined, inverse: readonly Operation[]): string[] {
  if (name !== undefined) return [`${verbOf(operation)} ${name}`];
  const after = valueIn(operation);
  const before = valueIn(inverse.find(({ path, op }) => path === operation.path && op !== 'remove'));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((variableName) => before[variableName] !== after[variableName])
    .map(
      (variableName) =>
        `${after[variableName] === undefined ? 'removed' : before[variableName] === undefined ? 'set' : 'changed'} ${variableName}`,
    );
}

function valueIn(operation: Operation | undefined): JsonObject {
  const value: unknown = operation && 'value' in operation ? operation.value : undefined;
  return isJsonObject(value) ? value : {};
}

function verbOf({ op }: Operation): string {
  return op === 'remove' ? 'removed' : op === 'add' ? 'set' : 'changed';
}
