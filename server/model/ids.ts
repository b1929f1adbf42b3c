import { v4, v5 } from 'uuid';
import { PlatformError } from './errors.ts';

/** A resource id: a UUID in lower case (D-014). */
export type Uuid = string;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Is the text a UUID, in any letter case? */
export function isUuid(text: unknown): text is Uuid {
  return typeof text === 'string' && UUID.test(text);
}

/** The lower-case UUID in a path or query; throws 400 with the text and its place (D-003). */
export function parseUuid(text: string, where = 'id'): Uuid {
  if (!UUID.test(text)) throw new PlatformError(400, `${where} '${text.slice(0, 64)}' is not a UUID`);
  return text.toLowerCase();
}

/** A fresh id. */
export function newId(): Uuid {
  return v4();
}

/** An id that is derived, the same each time, from two others (RFC 9562 version 5). */
export function derivedId(namespace: Uuid, name: string): Uuid {
  // As bytes: v5 refuses the text of a UUID that is of no RFC 9562 version, and clients may choose such ids (D-030).
  return v5(name, Buffer.from(namespace.replaceAll('-', ''), 'hex'));
}
