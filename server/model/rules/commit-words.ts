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

/** What a commit did, as a sentence: `root changed contact-form: timeout 5 → 10 s`. */
export function commitSentence(commit: Commit): string {
  const { cause, resources } = commit;
  const through = cause.via === 'api' || cause.via === 'ui' ? '' : ` (${cause.via})`;
  const who = `${cause.actor?.name ?? 'The platform'}${through}`;
  if (cause.note !== undefined) return `${who}: ${cause.note}`;
  const [first, ...others] = resources;
  if (!first) return `${who}: ${cause.action ?? 'a change'}`;
  const what = first.path === '/' ? 'the root organization' : first.name;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const summary = changeSummary(commit, first.id);
  if (summary.includes('created it')) return `${who} created ${what}${more}`;
  if (summary.includes('removed it')) return `${who} deleted ${what}${more}`;
  const values = valueChanges(commit, first.id);
  const changes = [...values.texts, ...summary.filter((one) => !values.said.has(one))];
  const shown = changes.slice(0, MAX_CHANGES).join(', ');
  const left = changes.length > MAX_CHANGES ? ` and ${changes.length - MAX_CHANGES} more` : '';
  return `${who} changed ${what}${more}${shown === '' ? '' : `: ${shown}${left}`}`;
}

/** The properties that were changed from one short value to another, and what the summary calls those changes. */
function valueChanges({ ops, inverse }: Commit, id: Uuid): { texts: string[]; said: Set<string> } {
  const texts: string[] = [];
  const said = new Set<string>();
  for (const operation of ops) {
    const segments = segmentsOf(operation.path);
    const [, of, member, property, ...rest] = segments;
    if (of !== id || member !== 'properties' || property === undefined || rest.length > 0) continue;
    if (operation.op === 'remove' || isHiddenPlace(segments.slice(2))) continue;
    const name = property.replaceAll('_', ' ');
    const after = shortValue(operation);
    const before = shortValue(inverse.find(({ path }) => path === operation.path));
    if (after === undefined || property === 'code') continue;
    texts.push(`${name} ${before === undefined ? '' : `${before} → `}${after}${UNITS[property] ?? ''}`);
    said.add(`${verbOf(operation)} ${name}`);
  }
  return { texts, said };
}

function shortValue(operation: Operation | undefined): string | undefined {
  const value: unknown = operation && 'value' in operation ? operation.value : undefined;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = String(value);
  return text === '' || text.length > MAX_VALUE || text.includes('\n') ? undefined : text;
}

/** What a commit did to a resource, in words. @param only of its properties this one alone counts */
export function changeSummary({ ops, inverse }: Commit, id: Uuid, only?: string): string[] {
  const changes = ops.flatMap((operation) => {
    const [, of, member, property, ...rest] = segmentsOf(operation.path);
    if (of !== id) return [];
    if (member === undefined) return only ? [] : [operation.op === 'remove' ? 'removed it' : 'created it'];
    if (member !== 'properties') return only || member === 'modified' ? [] : [`changed its ${member}`];
    if (property === undefined) return [];
    if (only !== undefined && property !== only) return [];
    if (property === 'env') return variableChanges(operation, rest[0], inverse);
    const name = property === 'code' ? 'the code' : property.replaceAll('_', ' ');
    return [`${verbOf(operation)} ${name}`];
  });
  return [...new Set(changes)];
}

/** Which variables were set, changed or removed: one of them, or by giving all again. */
function variableChanges(operation: Operation, name: string | undefined, inverse: readonly Operation[]): string[] {
  if (name !== undefined) return [`${verbOf(operation)} ${name}`];
  const after = valueIn(operation);
  const before = valueIn(inverse.find(({ path, op }) => path === operation.path && op !== 'remove'));
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((one) => before[one] !== after[one])
    .map((one) => `${after[one] === undefined ? 'removed' : before[one] === undefined ? 'set' : 'changed'} ${one}`);
}

function valueIn(operation: Operation | undefined): JsonObject {
  const value: unknown = operation && 'value' in operation ? operation.value : undefined;
  return isJsonObject(value) ? value : {};
}

function verbOf({ op }: Operation): string {
  return op === 'remove' ? 'removed' : op === 'add' ? 'set' : 'changed';
}
