// JSON Pointers (RFC 6901). The window shares them, which fast-json-patch's functions for it would bring all of that library.

/** A member's name, or a place in an array, as one step of a pointer: `/` and the name, escaped. */
export function stepTo(name: PropertyKey): string {
  const text = String(name);
  return /[~/]/.test(text) ? `/${text.replaceAll('~', '~0').replaceAll('/', '~1')}` : `/${text}`;
}

/** The pointer that leads through these members, from where `base` leads. */
export function pointerTo(path: readonly PropertyKey[], base = ''): string {
  return base + path.map(stepTo).join('');
}

/** The members that a pointer leads through. */
export function segmentsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescaped);
}

/** The name that one step of a pointer stands for. */
export function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
