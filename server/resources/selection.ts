import { booleanParameter, singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import { isUuid } from '../model/ids.ts';
import { idIn, type Json, type JsonObject, memberOf } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { hiddenProperties } from '../model/secrets.ts';
import { parseTypeName, providerTypesMatching } from '../model/type-names.ts';
import type { TypeWord } from '../model/type-words.ts';
import { demandFilters } from './filter-names.ts';
import type { Renderer } from './renderer.ts';
import { type Answer, ok, type ResourceRequest } from './request.ts';
import type { ResourceService } from './resource-service.ts';

/** Parameters that say how a list is shown; all others filter it. */
const FLAGS = new Set(['expand', 'compact', 'embed', 'showcredentials']);

/** A single read: the record with what `?embed=` asks for (D-037). Throws 403 without the right to view it. */
export function read(service: ResourceService, request: ResourceRequest, resource: StoredResource): Answer {
  service.demandView(request.act, resource);
  return ok(request.renderer.record(resource, embedWords(request.query, resource)));
}

/**
 * A list of resources as the query asks for it, of what the caller may view (D-118): filtered by whatever parameters are
 * no flags (D-187); `word` says what of. Throws 400 for a bad flag or filter.
 */
export function list(
  service: ResourceService,
  request: ResourceRequest,
  resources: readonly StoredResource[],
  word: TypeWord | 'resources',
): Answer {
  const { query, renderer } = request;
  const filters = filtersIn(query);
  demandFilters(
    filters.map(([name]) => name),
    word,
  );
  const criteria = filters.map(([name, wanted]) => criterion(name, wanted, renderer));
  const selected = resources.filter(
    (one) => criteria.every((holds) => holds(one)) && service.canView(request.act, one),
  );
  return ok(inForm(query, selected, { link: (one) => renderer.link(one), record: (one) => renderer.record(one) }));
}

/**
 * The elements of a list in the form that the query asks for: links, records with `expand=true` (D-186), or with
 * `compact=true` records without who and when (D-036). Throws 400 for a bad flag.
 */
export function inForm<T>(
  query: URLSearchParams,
  elements: readonly T[],
  { link, record }: { link(element: T): JsonObject; record(element: T): JsonObject },
): Json[] {
  const expand = booleanParameter(query, 'expand');
  if (!booleanParameter(query, 'compact')) return elements.map(expand ? record : link);
  return elements.map(record).map(({ org, owner, created, modified, ...rest }) => rest);
}

/**
 * The parameters of a query that filter a list, each with what is wanted; one that begins with `_` is for caches only. Throws 400 for
 * one that is repeated.
 */
export function filtersIn(query: URLSearchParams): [name: string, wanted: string][] {
  const names = [...query.keys()].filter((name) => !FLAGS.has(name) && !name.startsWith('_'));
  return names.map((name) => [name, singleParameter(query, name) ?? '']);
}

/** The words of `?embed=` that the type knows; throws 400 for another (D-037). */
function embedWords(query: URLSearchParams, resource: StoredResource): string[] {
  const known = Object.keys(typeOf(resource).embed ?? {});
  const words = query.getAll('embed').flatMap((value) => value.split(','));
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    const choice = known.length > 0 ? `this type can embed ${known.join(', ')}` : 'this type can embed nothing';
    throw new PlatformError(400, `cannot embed '${unknown.slice(0, 64)}': ${choice}`);
  }
  return words;
}

function criterion(name: string, wanted: string, renderer: Renderer): (resource: StoredResource) => boolean {
  const ofSubType = name === 'type' ? subTypeCriterion(wanted) : undefined;
  return (resource) => {
    const { word } = typeOf(resource);
    if (ofSubType && (word === 'providers' || word === 'rules')) return ofSubType(resource);
    if (name === 'providerId' && word === 'secrets') return idIn(resource.properties.provider) === wanted.toLowerCase();
    return isText(fieldOf(resource, name, renderer), wanted);
  };
}

/** `?type=` of providers and rules (D-065, D-015); an unknown provider type is only an error where there are providers to ask. */
function subTypeCriterion(wanted: string): (resource: StoredResource) => boolean {
  const providers = providerTypesMatching(wanted);
  const ruleType = ruleTypeOf(wanted);
  return (resource) => providers.has(resource.type) || resource.type === ruleType;
}

/** `Event`, `Limit`, or a type's name or UUID. */
export function ruleTypeOf(wanted: string): string {
  return parseTypeName(wanted) ?? `Resource::Rule::${wanted}`;
}

function fieldOf(resource: StoredResource, name: string, renderer: Renderer): Json | undefined {
  const stored = resource.properties;
  // Hidden values are no criteria: a filter must not tell what a read does not.
  if (Object.hasOwn(stored, name) && !hiddenProperties(typeOf(resource)).includes(name)) return stored[name];
  if (name === 'name' || name === 'description' || name === 'id') return resource[name];
  return memberOf(renderer.properties(resource), name);
}

/** Does a field hold what is wanted? Scalars compare by their text, ids in any letter case; objects and lists match nothing (D-187). */
export function isText(value: Json | undefined, wanted: string): boolean {
  if (value === undefined || value === null || typeof value === 'object') return false;
  const text = String(value);
  return text === wanted || (isUuid(wanted) && text.toLowerCase() === wanted.toLowerCase());
}
