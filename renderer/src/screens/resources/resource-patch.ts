import { compare, type Operation } from 'fast-json-patch';
import type { PlatformRecord } from '../../api/world.ts';

/** What of a record one may change: its name, description and those of its properties that the server does not set. */
export interface Editable {
  name: string;
  description?: string;
  properties: Record<string, unknown>;
}

/** The part of a record that can be edited. */
export function editableOf(record: PlatformRecord, readOnly: ReadonlySet<string>): Editable {
  const properties = Object.entries(record.properties).filter(([name]) => !readOnly.has(name));
  return {
    name: record.name,
    ...(record.description !== undefined && { description: record.description }),
    properties: Object.fromEntries(properties),
  };
}

/** What leads from one to the other. */
export function patchBetween(before: Editable, after: Editable): Operation[] {
  return compare(before, after);
}

/**
 * The patch with a test before each operation: when somebody else has changed the same place meanwhile, the server refuses the
 * whole (422) and nothing is overwritten.
 */
export function guarded(before: Editable, operations: readonly Operation[]): Operation[] {
  const tests = operations.flatMap(({ op, path }): Operation[] => {
    const value = valueAt(before, path);
    return (op === 'replace' || op === 'remove') && value !== undefined ? [{ op: 'test', path, value }] : [];
  });
  return [...tests, ...operations];
}

function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined; // an object or array, see above
  }
  return value;
}
