import { isDeepStrictEqual } from 'node:util';
import jsonPatch, { type Operation } from 'fast-json-patch';
import { type ErrorDetail, PlatformError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { MAX_JSON_DEPTH, MAX_RECORD_SIZE, measure } from './json-bounds.ts';
import { segmentsOf } from './pointer.ts';

// A CommonJS package: only its default is there for whoever loads this file unbundled, as the tests of the window do.
const { applyOperation, JsonPatchError } = jsonPatch;

/** What a PATCH of one record may reach (D-090, D-093, D-095). Names are members of `properties`. */
export interface PatchRules {
  /** May `/name` be changed? */
  renamable: boolean;
  /** Set by the server only. */
  serverSet: readonly string[];
  /** Never to be read back: no `test`, and no `from` of copy or move. */
  unreadable: readonly string[];
  /** Pointers where `replace` also creates. */
  replaceCreates: readonly string[];
  /** An operation in a spelling of the type's own, as one of RFC 6902, against the document as patched so far (D-073). */
  rewrite?(operation: Operation, document: { properties: JsonObject }): Operation;
}

/** A record as a client sees it, rendered when it is asked for. */
export interface ShownRecord {
  /** The record; its properties are not looked for there. */
  envelope(): JsonObject;
  properties(): JsonObject;
}

const NEEDS: Record<string, readonly string[]> = {
  add: ['path', 'value'],
  replace: ['path', 'value'],
  test: ['path', 'value'],
  remove: ['path'],
  move: ['path', 'from'],
  copy: ['path', 'from'],
};

/**
 * Reads a patch document: a bare array of RFC 6902 operations (D-091).
 * Throws 400 whose details point into the document, e.g. `/2/op`.
 */
export function parsePatch(document: Json | undefined): Operation[] {
  if (!Array.isArray(document)) {
    throw new PlatformError(
      400,
      'a patch is a JSON array of operations such as [{"op":"replace","path":"/name","value":"x"}]',
    );
  }
  const details = document.flatMap((operation, index) => offencesIn(operation, `/${index}`));
  const [first] = details;
  if (first) throw new PlatformError(400, `malformed patch: ${first.pointer} ${first.message}`, { details });
  return document as unknown as Operation[]; // offencesIn() has just checked the shape
}

function offencesIn(operation: Json, at: string): ErrorDetail[] {
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
  if (/~(?![01])/.test(pointer)) return 'has a ~ that is followed by neither 0 nor 1';
  if (segmentsOf(pointer).includes('__proto__')) return 'must not reach for __proto__';
  return undefined;
}

/** The value at a pointer, through own members only, so that `/constructor` is as absent as it looks. */
function valueAt(document: Json, segments: readonly string[]): { value: Json } | undefined {
  let at: Json = document;
  for (const segment of segments) {
    if (Array.isArray(at)) {
      if (!/^(0|[1-9]\d*)$/.test(segment)) return undefined;
    } else if (!isJsonObject(at)) return undefined;
    if (!Object.hasOwn(at, segment)) return undefined;
    at = (at as JsonObject)[segment] as Json; // an own member: an index of the array or a name of the object
  }
  return { value: at };
}

/**
 * Applies operations in order, all or nothing, to a record's editable members (D-090..D-095).
 *
 * @param written the record in written form: name, description?, tags?, variables?, properties
 * @param shown the record as a client sees it, against which a harmless write of a read-only member is recognised (D-093); asked
 *   for no more than what an operation touches
 * @returns a new document, which shares what no operation reaches; the given ones stay as they are
 * @throws PlatformError 422 naming the operation (D-092); 413 when the document would become larger than a body may be
 */
export function applyPatch(
  written: JsonObject & { properties: JsonObject },
  shown: ShownRecord,
  operations: readonly Operation[],
  rules: PatchRules,
): JsonObject {
  const document = { ...written };
  const own = ownedParts(document);
  let carried = 0;
  operations.forEach((sent, index) => {
    const operation = rules.rewrite?.(sent, document) ?? sent;
    const refuse = (reason: string): never => {
      throw new PlatformError(422, `operation ${index} (${operation.path}): ${reason}`, {
        details: [{ pointer: operation.path, message: reason }],
      });
    };
    if (isHarmless(operation, shown, rules)) return;
    const problem = readOnlyProblem(operation, rules) ?? unreadableProblem(operation, rules);
    if (problem) refuse(problem);
    const { value, isCarried } = placedBy(operation, document);
    const { depth, size } = measure(value);
    if (segmentsOf(operation.path).length + depth > MAX_JSON_DEPTH)
      refuse(`nests deeper than ${MAX_JSON_DEPTH} levels`);
    // A few copies of copies would fill all memory.
    if (isCarried) carried += size;
    if (carried > MAX_RECORD_SIZE) refuse('moves and copies more than a record may hold');
    own(operation);
    applyOne(document, operation, rules, refuse);
  });
  if (measure(document).size > MAX_RECORD_SIZE) {
    throw new PlatformError(413, `the patched record would have over ${MAX_RECORD_SIZE} characters`);
  }
  return document;
}

/** The places that an operation reads or writes: where it takes something from, too. */
export function placesOf(operation: Operation): string[] {
  return operation.op === 'move' || operation.op === 'copy' ? [operation.path, operation.from] : [operation.path];
}

/** Makes the objects and arrays on the way to the places of an operation the document's own: others share them. */
function ownedParts(document: JsonObject): (operation: Operation) => void {
  const own = new Set<Json>([document]);
  return (operation) => {
    for (const pointer of operation.op === 'move' ? [operation.path, operation.from] : [operation.path]) {
      let at: Json = document;
      for (const segment of segmentsOf(pointer).slice(0, -1)) {
        const below: { value: Json } | undefined = valueAt(at, [segment]);
        if (typeof below?.value !== 'object' || below.value === null) break;
        const copy: Json = own.has(below.value)
          ? below.value
          : Array.isArray(below.value)
            ? [...below.value]
            : { ...below.value };
        own.add(copy);
        (at as JsonObject)[segment] = copy; // an own member: an index of the array or a name of the object
        at = copy;
      }
    }
  };
}

/** The value that an operation puts somewhere, and whether it takes it from the document itself. */
function placedBy(operation: Operation, document: JsonObject): { value: Json; isCarried: boolean } {
  if (operation.op === 'add' || operation.op === 'replace') return { value: operation.value, isCarried: false };
  const isCarried = operation.op === 'move' || operation.op === 'copy';
  const found = isCarried ? valueAt(document, segmentsOf(operation.from)) : undefined;
  return { value: found?.value ?? null, isCarried };
}

/** A write that a client makes by comparing whole records, and that changes nothing the server owns (D-093). */
function isHarmless(operation: Operation, shown: ShownRecord, rules: PatchRules): boolean {
  const segments = segmentsOf(operation.path);
  if (operation.op === 'remove') return segments[0] === 'properties' && rules.serverSet.includes(segments[1] ?? '');
  if (operation.op !== 'add' && operation.op !== 'replace') return false;
  if (readOnlyProblem(operation, rules) === undefined) return false;
  const present = valueAt(
    segments[0] === 'properties' ? { properties: shown.properties() } : shown.envelope(),
    segments,
  );
  return present !== undefined && isDeepStrictEqual(present.value, operation.value);
}

function readOnlyProblem(operation: Operation, rules: PatchRules): string | undefined {
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
  return undefined;
}

function unreadableProblem(operation: Operation, rules: PatchRules): string | undefined {
  const read =
    operation.op === 'test'
      ? operation.path
      : operation.op === 'move' || operation.op === 'copy'
        ? operation.from
        : undefined;
  if (read === undefined) return undefined;
  const [top, member = ''] = segmentsOf(read);
  return top === 'properties' && rules.unreadable.includes(member)
    ? `/properties/${member} cannot be read back`
    : undefined;
}

function applyOne(
  document: JsonObject,
  operation: Operation,
  rules: PatchRules,
  refuse: (reason: string) => never,
): void {
  const segments = segmentsOf(operation.path);
  const exists = valueAt(document, segments) !== undefined;
  let effective = operation;
  if (operation.op === 'replace' && !exists && rules.replaceCreates.includes(operation.path)) {
    effective = { op: 'add', path: operation.path, value: operation.value };
  }
  switch (effective.op) {
    case 'remove':
    case 'replace':
    case 'test':
      if (!exists) refuse('there is nothing at this path');
      break;
    case 'move':
    case 'copy':
      if (!valueAt(document, segmentsOf(effective.from))) refuse(`there is nothing at ${effective.from}`);
      if (effective.op === 'move' && effective.path.startsWith(`${effective.from}/`))
        refuse('a value cannot be moved into itself');
      break;
  }
  if (effective.op === 'move' && effective.path === effective.from) return;
  if (effective.op !== 'test' && !exists) {
    const above = valueAt(document, segments.slice(0, -1));
    if (typeof above?.value !== 'object' || above.value === null)
      refuse('the object or array that would hold it does not exist');
  }
  try {
    applyOperation(document, effective, true, true);
  } catch (failure) {
    if (!(failure instanceof JsonPatchError)) throw failure;
    refuse(REASONS[failure.name] ?? 'cannot be applied');
  }
}

const REASONS: Record<string, string> = {
  TEST_OPERATION_FAILED: 'the test failed: the value there is another',
  OPERATION_VALUE_OUT_OF_BOUNDS: 'the index is beyond the end of the array',
  OPERATION_PATH_ILLEGAL_ARRAY_INDEX: 'is not an index of the array',
  OPERATION_PATH_CANNOT_ADD: 'the object or array that would hold it does not exist',
  OPERATION_PATH_UNRESOLVABLE: 'there is nothing at this path',
  OPERATION_FROM_UNRESOLVABLE: 'there is nothing at the source path',
};
