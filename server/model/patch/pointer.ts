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

/** Returns the value at a pointer; undefined if there is none. It never reads a prototype. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const name of segmentsOf(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined; // an object or array, see above
  }
  return value;
}

export function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
