import { isDeepStrictEqual } from 'node:util';
import jsonPatch, { type Operation } from 'fast-json-patch';
import type { ErrorCode } from '../error-codes.ts';
import { type ErrorDetail, PlatformError } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject, MAX_JSON_DEPTH } from '../json.ts';
import { ARRAY_INDEX, segmentsOf, valueAt } from './pointer.ts';

/** Elements of arrays that inserts and removals before the end may copy in total: about a quarter of a second. */
const MAX_SHIFTED = 100_000_000;

/** Members and elements that copies may add in total. Copies of copies would otherwise multiply a few bytes to millions of values. */
const MAX_COPIED_VALUES = 100_000;

// A CommonJS package: unbundled, as in tests of the window, it only has a default export.
const { applyOperation } = jsonPatch;

/**
 * The rules for a PATCH of a record: the changes that it may make (D-090, D-093, D-095). Names are members of
 * `properties`.
 */
export interface PatchRules {
  renamable: boolean;
  serverSet: readonly string[];
  /** Cannot be read back: no `test`, and no `from` of copy or move. */
  unreadable: readonly string[];
  replaceCreates: readonly string[];
  /** Converts a type-specific operation to RFC 6902, against the document as patched so far (D-073). */
  rewrite?(operation: Operation, document: { properties: JsonObject }): Operation;
}

const NEEDS: Record<string, readonly string[]> = {
  add: ['path', 'value'],
  replace: ['path', 'value'],
  test: ['path', 'value'],
  remove: ['path'],
  move: ['path', 'from'],
  copy: ['path', 'from'],
};

/** Parses a patch document: an array of RFC 6902 operations (D-091). Throws 400 whose details point into the document, e.g. `/2/op`. */
export function parsePatch(document: Json | undefined): Operation[] {
  if (!Array.isArray(document)) {
    throw new PlatformError(
      'invalid_patch',
      'a patch must be a JSON array of operations such as [{"op":"replace","path":"/name","value":"x"}]',
    );
  }
  const details = document.flatMap((operation, index) => violationsIn(operation, `/${index}`));
  const [first] = details;
  if (first)
    throw new PlatformError('invalid_patch', `malformed patch: ${first.pointer} ${first.message}`, { details });
  return document as unknown as Operation[]; // validated above
}

function violationsIn(operation: Json, at: string): ErrorDetail[] {
  if (!isJsonObject(operation)) return [{ pointer: at, message: 'must be an object' }];
  const op = operation.op;
  const needs = typeof op === 'string' && Object.hasOwn(NEEDS, op) ? NEEDS[op] : undefined;
  if (!needs) return [{ pointer: `${at}/op`, message: 'must be one of add, remove, replace, move, copy, test' }];
  return needs.flatMap((member) => {
    const pointer = `${at}/${member}`;
    if (!Object.hasOwn(operation, member)) return [{ pointer, message: 'is required' }];
    if (member === 'value') return [];
    const problem = pointerProblem(operation[member]);
    return problem ? [{ pointer, message: problem }] : [];
  });
}

function pointerProblem(pointer: Json | undefined): string | undefined {
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) return 'must be a JSON Pointer that starts with /';
  if (/~(?![01])/.test(pointer)) return 'contains a ~ that is not followed by 0 or 1';
  if (segmentsOf(pointer).includes('__proto__')) return 'must not contain __proto__';
  return undefined;
}

/**
 * Applies operations in order, all or none, to the editable members of a record in written form (D-090..D-095). Returns a new document,
 * which shares unchanged parts. Throws 422 naming the operation (D-092), and 413 when the document would exceed the size limit of a body.
 *
 * @param show returns the record as its client sees it, by which writes of read-only members are harmless or not (D-093)
 */
export function applyPatch(
  written: JsonObject & { properties: JsonObject },
  show: () => JsonObject,
  operations: readonly Operation[],
  rules: PatchRules,
): JsonObject & { properties: JsonObject } {
  const document = { ...written };
  let visibleRecord: JsonObject | undefined;
  const copySharedParts = partCopier(document);
  let [carried, copiedValues, shifted] = [0, 0, 0];
  operations.forEach((requestedOperation, index) => {
    const operation = rules.rewrite?.(requestedOperation, document) ?? requestedOperation;
    const refuse = (reason: string, code: ErrorCode = 'patch_not_applicable'): never => {
      throw new PlatformError(code, `operation ${index} (${operation.path}): ${reason}`, {
        details: [{ pointer: operation.path, message: reason }],
      });
    };
    const problem = problemOf(operation, rules);
    if (problem) {
      visibleRecord ??= show();
      if (isHarmless(operation, visibleRecord, rules)) return;
      refuse(problem);
    }
    const isCarried = operation.op === 'move' || operation.op === 'copy';
    const isWritten = operation.op === 'add' || operation.op === 'replace';
    const carriedValue = isCarried ? valueAt(document, operation.from) : undefined;
    const value: Json = isWritten ? operation.value : (carriedValue ?? null);
    const { depth, size, values } = measure(value);
    if (segmentsOf(operation.path).length + depth > MAX_JSON_DEPTH)
      refuse(`nests deeper than ${MAX_JSON_DEPTH} levels`);
    // A few copies of copies would fill all memory.
    if (isCarried) carried += size;
    if (operation.op === 'copy') copiedValues += values;
    if (copiedValues > MAX_COPIED_VALUES)
      refuse(`copies more than ${MAX_COPIED_VALUES} members and elements in total; split the patch`, 'invalid_patch');
    if (carried > MAX_RECORD_SIZE) refuse('moves and copies more than the maximum size of a record');
    const changedPlaces = operation.op === 'move' ? placesOf(operation) : [operation.path];
    if (operation.op !== 'replace' && operation.op !== 'test') shifted += shiftedBy(changedPlaces, document);
    if (shifted > MAX_SHIFTED) refuse('inserts and removes too much within long arrays');
    if (operation.op !== 'test') for (const pointer of changedPlaces) copySharedParts(pointer);
    applyOne(document, operation, value, { rules, refuse, copySharedParts });
  });
  if (measure(document).size > MAX_RECORD_SIZE) {
    throw new PlatformError('body_too_large', `the patched record would have more than ${MAX_RECORD_SIZE} characters`);
  }
  return document;
}

export function placesOf(operation: Operation): string[] {
  return operation.op === 'move' || operation.op === 'copy' ? [operation.path, operation.from] : [operation.path];
}

/** Copies the shared objects and arrays on the way to a pointer before an operation changes them. */
export function partCopier(document: object): (pointer: string) => void {
  const ownedValues = new Set<unknown>([document]);
  return (pointer) => {
    let at = document as Json;
    for (const segment of segmentsOf(pointer).slice(0, -1)) {
      const below: Json | undefined = valueAt(at, [segment]);
      if (typeof below !== 'object' || below === null) break;
      const copy: Json = ownedValues.has(below) ? below : Array.isArray(below) ? [...below] : { ...below };
      ownedValues.add(copy);
      (at as JsonObject)[segment] = copy; // an own member: an index of the array or a name of the object
      at = copy;
    }
  };
}

/** The size of the arrays that an operation lengthens or shortens before their end, at these places. */
function shiftedBy(pointers: readonly string[], document: JsonObject): number {
  const sizes = pointers.map((pointer) => {
    const segments = segmentsOf(pointer);
    const index = Number(segments.pop());
    const above = valueAt(document, segments);
    return Array.isArray(above) && index < above.length - 1 ? above.length : 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A write of a read-only member by a client that compares whole records, which changes nothing that the server owns (D-093). */
function isHarmless(operation: Operation, visibleRecord: JsonObject, rules: PatchRules): boolean {
  const [top, member = ''] = segmentsOf(operation.path);
  if (operation.op === 'remove') return top === 'properties' && rules.serverSet.includes(member);
  if (operation.op !== 'add' && operation.op !== 'replace') return false;
  const present = valueAt(visibleRecord, operation.path);
  return present !== undefined && isDeepStrictEqual(present, operation.value);
}

/** Returns why the operation may not change or read one of its places; undefined if it may. */
function problemOf(operation: Operation, rules: PatchRules): string | undefined {
  for (const pointer of placesOf(operation)) {
    const [top = '', member, ...rest] = segmentsOf(pointer);
    if (top === 'properties') {
      if (member === undefined) return '/properties as a whole is not editable; name one of its members';
      if (rules.serverSet.includes(member)) return `/properties/${member} is set by the server`;
    } else if (top === 'name' || top === 'description') {
      if (member !== undefined || rest.length > 0) return `/${top} has no members`;
    } else if (top !== 'tags' && top !== 'variables') {
      return `/${top} is not editable; editable are /name, /description, /tags, /variables and /properties/...`;
    }
  }
  const writesName = operation.path === '/name' && operation.op !== 'test';
  const takesName = operation.op === 'remove' ? operation.path : operation.op === 'move' ? operation.from : undefined;
  if (takesName === '/name') return '/name cannot be removed';
  if (writesName && !rules.renamable) return '/name cannot be changed for this type';
  // What it reads comes last: the path of a test, or the `from` of a copy or move.
  const [top, member = ''] = segmentsOf(placesOf(operation).at(-1) ?? '');
  const isRead = operation.op === 'test' || operation.op === 'move' || operation.op === 'copy';
  if (isRead && top === 'properties' && rules.unreadable.includes(member))
    return `/properties/${member} cannot be read back`;
  return undefined;
}

interface PatchStep {
  rules: PatchRules;
  refuse(reason: string, code?: ErrorCode): never;
  copySharedParts(pointer: string): void;
}

function applyOne(
  document: JsonObject,
  operation: Operation,
  value: Json,
  { rules, refuse, copySharedParts }: PatchStep,
): void {
  const segments = segmentsOf(operation.path);
  const present = valueAt(document, segments);
  if (operation.op === 'move' || operation.op === 'copy') {
    if (valueAt(document, operation.from) === undefined) refuse(`${operation.from} does not exist`);
    if (operation.op === 'move' && operation.path === operation.from) return;
    if (operation.op === 'move' && operation.path.startsWith(`${operation.from}/`))
      refuse('a value cannot be moved into itself');
  } else if (operation.op !== 'add' && present === undefined) {
    const isCreated = operation.op === 'replace' && rules.replaceCreates.includes(operation.path);
    if (!isCreated) refuse('the path does not exist');
  }
  if (operation.op === 'test') {
    if (!isDeepStrictEqual(present, operation.value))
      refuse('the test failed: the value is different', 'patch_test_failed');
    return;
  }
  // The library would clone the whole document for a move or a copy.
  if (operation.op === 'move') {
    apply(document, { op: 'remove', path: operation.from });
    copySharedParts(operation.path);
  }
  if (operation.op === 'remove') {
    apply(document, operation);
    return;
  }
  const above = valueAt(document, segments.slice(0, -1));
  if (typeof above !== 'object' || above === null) refuse('the object or array that would contain it does not exist');
  const name = segments.at(-1) ?? '';
  if (Array.isArray(above) && name !== '-') {
    // The library also accepts an empty index and leading zeros.
    if (!ARRAY_INDEX.test(name)) refuse('is not an index of the array');
    if (Number(name) > above.length) refuse('the index is beyond the end of the array');
  }
  const op = operation.op === 'replace' && present !== undefined ? 'replace' : 'add';
  apply(document, { op, path: operation.path, value: operation.op === 'copy' ? structuredClone(value) : value });
}

/** Changes the document itself. Prototypes are not reached: `valueAt` finds own members only. */
function apply(document: JsonObject, operation: Operation): void {
  applyOperation(document, operation, false, true, false);
}

/** Maximum size of a record in characters of JSON: the default limit for the body of a create (D-007). */
const MAX_RECORD_SIZE = 10 * 1024 * 1024;

/** Counted size of a scalar other than a string, or of a pair of brackets. */
const SMALL = 4;

/** Nesting depth, approximate JSON length, and number of members and elements of a value, computed without recursion. */
export function measure(value: Json): { depth: number; size: number; values: number } {
  let depth = 0;
  let size = 0;
  let values = 0;
  for (let level = [value]; level.length > 0; ) {
    const below: Json[] = [];
    let isNested = false;
    values += level.length;
    for (const node of level) {
      size += typeof node === 'string' ? node.length : SMALL;
      if (typeof node !== 'object' || node === null) continue;
      isNested = true;
      for (const [name, member] of Object.entries(node)) {
        size += name.length;
        below.push(member);
      }
    }
    if (isNested) depth += 1;
    level = below;
  }
  return { depth, size, values };
}
