import { faultOfJson } from './json-limits.ts';

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [member: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of a JSON object, or undefined; never reads the prototype. */
export function memberOf(value: unknown, name: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function idIn(value: unknown): string | undefined {
  const id = memberOf(value, 'id');
  return typeof id === 'string' ? id.toLowerCase() : undefined;
}

/** Parses JSON; undefined if it is invalid or nested too deep. The reader limits its size. */
export function jsonIn(text: string): unknown {
  try {
    return faultOfJson(text, Number.POSITIVE_INFINITY) === undefined ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
