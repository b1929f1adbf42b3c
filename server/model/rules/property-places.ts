import type { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import type { ResourceType } from '../resource-type.ts';

/** One step into a value: a member by name or by a pattern of names, or `*` for every member or element. */
type Step = string | RegExp;

export type PropertyPath = readonly Step[];

export interface Located {
  value: Json;
  path: readonly string[];
}

type Replace = (value: Json, path: readonly string[]) => Json;

/** The parts of a zod schema that contain further schemas. */
interface Definition {
  shape?: Record<string, z.core.$ZodType>;
  element?: z.core.$ZodType;
  valueType?: z.core.$ZodType;
  innerType?: z.core.$ZodType;
  options?: readonly z.core.$ZodType[];
}

interface PropertyLocation<Fact> {
  at: PropertyPath;
  fact: Fact;
}

/** Returns a function that finds, once for each type, the paths at which schemas in its properties are registered, with the metadata. */
export function registeredPlaces<Fact extends object>(
  registry: z.core.$ZodRegistry<Fact>,
  nameOf: (member: string, schema: z.core.$ZodType) => Step = (member) => member,
): (type: ResourceType) => readonly PropertyLocation<Fact>[] {
  const walk = (subschema: z.core.$ZodType, at: PropertyPath): PropertyLocation<Fact>[] => {
    const fact = registry.get(subschema);
    const { shape = {}, element, valueType, innerType, options = [] } = subschema._zod.def as Definition;
    return [
      ...(fact ? [{ at, fact: fact as Fact }] : []),
      ...Object.entries(shape).flatMap(([name, member]) => walk(member, [...at, nameOf(name, member)])),
      ...(element ? walk(element, [...at, '*']) : []),
      ...(valueType ? walk(valueType, [...at, '*']) : []),
      // A wrapper (optional, default) inherits only the path of its inner schema.
      ...(innerType ? walk(innerType, at) : []),
      ...options.flatMap((option) => walk(option, at)),
    ];
  };
  const knownLocations = new Map<ResourceType, readonly PropertyLocation<Fact>[]>();
  return (type) => {
    let locations = knownLocations.get(type);
    if (!locations) {
      locations = walk(type.properties, []);
      knownLocations.set(type, locations);
    }
    return locations;
  };
}

function leadsTo(step: Step | undefined, name: string): boolean {
  return step instanceof RegExp ? step.test(name) : step === '*' || step === name;
}

export function locate(value: Json, at: PropertyPath, path: readonly string[] = []): Located[] {
  const [step, ...rest] = at;
  if (step === undefined) return [{ value, path }];
  // Most steps are names, and most of these are absent.
  if (typeof step === 'string' && step !== '*') {
    const member = memberOf(value, step);
    return member === undefined ? [] : locate(member, rest, [...path, step]);
  }
  if (Array.isArray(value) ? step !== '*' : !isJsonObject(value)) return [];
  const members = Object.entries(value as JsonObject | Json[]);
  return members.flatMap(([name, member]) => (leadsTo(step, name) ? locate(member, rest, [...path, name]) : []));
}

/** A copy of properties with the values at a path replaced; unchanged if there are none. */
export function replaceAt(properties: JsonObject, at: PropertyPath, replace: Replace): JsonObject {
  return replaceWithin(properties, at, replace) as JsonObject; // the path is inside it
}

/**
 * Returns a copy of any value with the values at a path replaced. At the end of the path, the value itself is replaced.
 */
export function replaceWithin(value: Json, at: PropertyPath, replace: Replace, path: readonly string[] = []): Json {
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

/** A copy of properties without the entries, in the innermost list on the path, that contain a matching value. */
export function withoutEntries(
  properties: JsonObject,
  at: PropertyPath,
  matches: (value: Json) => boolean,
): JsonObject {
  const list = at.lastIndexOf('*');
  const inside = at.slice(list + 1);
  return replaceAt(properties, at.slice(0, list), (entries) =>
    Array.isArray(entries)
      ? entries.filter((entry) => !locate(entry, inside).some(({ value }) => matches(value)))
      : entries,
  );
}
