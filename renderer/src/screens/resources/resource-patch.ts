import { compare, type Operation } from 'fast-json-patch';
import { isJsonObject } from '../../../../server/model/json.ts';
import { valueAt } from '../../../../server/model/patch/pointer.ts';
import { type PlatformRecord, referenceId } from '../../api/use-world.ts';

/** The editable members of a record: all that the server does not set (D-090, D-093). */
export interface Editable {
  name: string;
  description?: string;
  tags?: unknown;
  variables?: unknown;
  properties: Record<string, unknown>;
}

export function editableOf(record: PlatformRecord, readOnly: ReadonlySet<string>): Editable {
  const properties = Object.entries(record.properties)
    .filter(([name]) => !readOnly.has(name))
    .map(([name, value]) => [name, written(record, name, value)]);
  return {
    name: record.name,
    ...(record.description !== undefined && { description: record.description }),
    ...(record.tags !== undefined && { tags: record.tags }),
    ...(record.variables !== undefined && { variables: record.variables }),
    properties: Object.fromEntries(properties),
  };
}

/** Links in their written form, as a patch wants them (D-097): the lambda of a rule, the members of a group. */
function written({ resource_type }: PlatformRecord, name: string, value: unknown): unknown {
  const isLinks =
    (name === 'lambda' && resource_type.includes('::Rule')) || (name === 'users' && resource_type.endsWith('::Group'));
  if (!isLinks) return value;
  return Array.isArray(value) ? value.map((link) => referenceId(link) ?? link) : (referenceId(value) ?? value);
}

/** Returns true if a value written as JSON has the shape of a resource. */
export function isEditable(value: unknown): value is Editable {
  if (!isJsonObject(value) || typeof value.name !== 'string' || !isJsonObject(value.properties)) return false;
  return value.description === undefined || typeof value.description === 'string';
}

export function patchBetween(before: Editable, after: Editable): Operation[] {
  return compare(before, after);
}

/** A value with the members of its objects in the order of another's, so that one sees what changed and not what moved. */
export function sortedLike(model: unknown, value: unknown): unknown {
  if (!isJsonObject(model) || !isJsonObject(value)) return value;
  const names = new Set([...Object.keys(model).filter((name) => Object.hasOwn(value, name)), ...Object.keys(value)]);
  return Object.fromEntries([...names].map((name) => [name, sortedLike(model[name], value[name])]));
}

/**
 * The patch with tests before it: if another user changed a property, the server rejects the whole patch (422) and
 * nothing is overwritten. Of what is new the map that it comes into is tested, of what is in a list the whole list; that a property is not there yet cannot
 * be (D-093), so one reads the record again before one sends this.
 */
export function guarded(before: Editable, operations: readonly Operation[]): Operation[] {
  const tested = new Map<string, unknown>();
  for (const { op, path } of operations) {
    const testedPointer = listAround(before, path) ?? (op === 'add' ? path.slice(0, path.lastIndexOf('/')) : path);
    const value = TESTABLE.test(testedPointer) ? valueAt(before, testedPointer) : undefined;
    if (value !== undefined) tested.set(testedPointer, value);
  }
  const tests = [...tested].map(([path, value]): Operation => ({ op: 'test', path, value }));
  return [...tests, ...operations];
}

/** The pointers that a test may look at: names and descriptions, properties one by one (D-093). */
const TESTABLE = /^\/(name|description|tags|variables|properties\/.+)/;

/** The outermost list that a place is in. */
function listAround(document: unknown, pointer: string): string | undefined {
  const steps = pointer.split('/');
  for (let count = 2; count < steps.length; count += 1) {
    const prefix = steps.slice(0, count).join('/');
    if (Array.isArray(valueAt(document, prefix))) return prefix;
  }
  return undefined;
}
