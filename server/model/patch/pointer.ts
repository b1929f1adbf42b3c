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

export function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
