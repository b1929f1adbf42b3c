import { SESSION_KEY_HEADER } from '../../../server/model/session-key.ts';
import { storedText, storeText } from '../stored-text.ts';

/** Kept for this very origin, port included, which a cookie is not: pages and servers at other ports of our host name cannot read it. */
const STORAGE_KEY = 'terrarium.session-key';
/** The session key where storage is forbidden; it is valid until the page is closed. */
let inMemory: string | undefined;

/** A key for the session that is about to begin. */
export function makeSessionKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** From now on every request has it; every tab of the window shares it, as they share the cookie. */
export function keepSessionKey(key: string): void {
  inMemory = key;
  storeText(STORAGE_KEY, key);
}

/** Returns the headers that each request of the window carries. Without them, the session's cookie has no effect (D-214). */
export function sessionHeaders(): Record<string, string> {
  const key = sessionKey();
  return key === undefined ? {} : { [SESSION_KEY_HEADER]: key };
}

export function sessionKey(): string | undefined {
  return storedText(STORAGE_KEY) ?? inMemory;
}
