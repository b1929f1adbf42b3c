import { unescapePathComponent } from 'fast-json-patch';

/** The members that a JSON Pointer (RFC 6901) leads through. */
export function segmentsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapePathComponent);
}
