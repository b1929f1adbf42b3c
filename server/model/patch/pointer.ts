import { isJsonObject, type Json, type JsonObject } from '../json.ts';

// JSON Pointers (RFC 6901). Separate from fast-json-patch, so that the window does not have to bundle that library.

/** One step of a pointer: `/` and the escaped name or index. */
export function stepTo(name: PropertyKey): string {
  const text = String(name);
  return /[~/]/.test(text) ? `/${text.replaceAll('~', '~0').replaceAll('/', '~1')}` : `/${text}`;
}

export function pointerTo(path: readonly PropertyKey[], base = ''): string {
  return base + path.map(stepTo).join('');
}

export function segmentsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescaped);
}

export const ARRAY_INDEX = /^(0|[1-9]\d*)$/;

/** Returns the value at a pointer into JSON, through own members only, so that `/constructor` is absent; undefined if there is none. */
export function valueAt(document: unknown, pointer: string | readonly string[]): Json | undefined {
  let value = document as Json;
  for (const segment of typeof pointer === 'string' ? segmentsOf(pointer) : pointer) {
    const canHave = Array.isArray(value) ? ARRAY_INDEX.test(segment) : isJsonObject(value);
    if (!canHave || !Object.hasOwn(value as object, segment)) return undefined;
    value = (value as JsonObject)[segment] as Json; // an own member: an index of the array or a name of the object
  }
  return value;
}

export function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
