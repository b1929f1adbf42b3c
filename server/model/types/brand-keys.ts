import type { JsonObject } from '../json.ts';

/** Keys that mean `plugins.platformSecurity` of an endpoint, whatever the brand (D-083). */
export const SECURITY_KEY = /^[a-z]+Security$/;

/** Keys that mean `platform_home` of a user, whatever the brand (D-083). */
export const HOME_KEY = /^[a-z]+_home$/;

/** The keys of an object that are spellings of a brand key. A valid object has at most one. */
export function brandKeys(object: object, pattern: RegExp): string[] {
  return Object.keys(object).filter((key) => pattern.test(key));
}

/** The key under which an object has its brand member (D-083), if it has it. */
export function findBrandKey(object: JsonObject, pattern: RegExp): string | undefined {
  return brandKeys(object, pattern)[0];
}
