/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

/** Is the value a JSON object (neither null nor an array)? */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of a JSON object, or undefined; never reaches the prototype. */
export function memberOf(value: unknown, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The `id` member of an object such as `{id, name?}`, when it is a string. */
export function idIn(value: unknown): string | undefined {
  const id = memberOf(value, 'id');
  return typeof id === 'string' ? id.toLowerCase() : undefined;
}

/** What a text is as JSON; undefined for what is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
