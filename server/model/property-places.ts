import type { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, memberOf } from './json.ts';

/** One step into a value: a member by its name or by a pattern of names, or `*` for every member or element. */
type Step = string | RegExp;

/** A place in a type's properties, from them down. */
export type Place = readonly Step[];

/** What stands at a place, and the names and indices that led there. */
export interface Located {
  value: Json;
  path: readonly string[];
}

type Replace = (value: Json, path: readonly string[]) => Json;

/** The parts of a zod schema that lead to further schemas. */
interface Definition {
  shape?: Record<string, z.core.$ZodType>;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
}

/** Where a schema of properties, or a schema inside it, was put into a registry, and with what. */
export function placesOf<Fact extends object>(
  schema: z.core.$ZodType,
  registry: z.core.$ZodRegistry<Fact>,
  nameOf: (member: string, schema: z.core.$ZodType) => Step,
): { at: Place; fact: Fact }[] {
  const walk = (one: z.core.$ZodType, at: Place): { at: Place; fact: Fact }[] => {
    const fact = registry.get(one);
    const { shape = {}, element, valueType, innerType, options = [] } = one._zod.def as Definition;
    return [
      ...(fact ? [{ at, fact: fact as Fact }] : []),
      ...Object.entries(shape).flatMap(([name, member]) => walk(member, [...at, nameOf(name, member)])),
      ...(element ? walk(element, [...at, '*']) : []),
      ...(valueType ? walk(valueType, [...at, '*']) : []),
      // A wrapper (optional, default) inherits nothing of what it wraps but its place.
      ...(innerType ? walk(innerType, at) : []),
      ...options.flatMap((option) => walk(option, at)),
    ];
  };
  return walk(schema, []);
}

function leadsTo(step: Step | undefined, name: string): boolean {
  return step instanceof RegExp ? step.test(name) : step === '*' || step === name;
}

/** Whatever stands at a place. */
export function locate(value: Json, at: Place, path: readonly string[] = []): Located[] {
  const [step, ...rest] = at;
  if (step === undefined) return [{ value, path }];
  // Most are looked for by their name, and most are not there.
  if (typeof step === 'string' && step !== '*') {
    const member = memberOf(value, step);
    return member === undefined ? [] : locate(member, rest, [...path, step]);
  }
  if (Array.isArray(value) ? step !== '*' : !isJsonObject(value)) return [];
  const members = Object.entries(value as JsonObject | Json[]);
  return members.flatMap(([name, member]) => (leadsTo(step, name) ? locate(member, rest, [...path, name]) : []));
}

/** A copy of properties in which what stands at a place is replaced; nothing happens where there is nothing. */
export function replaceAt(properties: JsonObject, at: Place, replace: Replace): JsonObject {
  return replaceWithin(properties, at, replace) as JsonObject; // the place is inside it
}

/** The same of any value; it is replaced itself where the place leads no further. */
export function replaceWithin(value: Json, at: Place, replace: Replace, path: readonly string[] = []): Json {
  const [step, ...rest] = at;
  if (step === undefined) return replace(value, path);
  if (Array.isArray(value)) {
    if (step !== '*') return value;
    return value.map((element, index) => replaceWithin(element, rest, replace, [...path, String(index)]));
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    leadsTo(step, name) ? replaceWithin(member, rest, replace, [...path, name]) : member,
  ]);
  return Object.fromEntries(members);
}

/** A copy of properties without the entries, of the innermost list on the way to a place, in which something stands there that is meant. */
export function withoutEntries(properties: JsonObject, at: Place, isMeant: (value: Json) => boolean): JsonObject {
  const list = at.lastIndexOf('*');
  const inside = at.slice(list + 1);
  return replaceAt(properties, at.slice(0, list), (entries) =>
    Array.isArray(entries)
      ? entries.filter((entry) => !locate(entry, inside).some(({ value }) => isMeant(value)))
      : entries,
  );
}
