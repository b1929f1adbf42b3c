import { booleanParameter, singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import { isUuid } from '../model/ids.ts';
import { idIn, type Json, type JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { parseTypeName, providerTypesMatching } from '../model/type-names.ts';
import type { Renderer } from './renderer.ts';
import { type Answer, ok, type ResourceRequest } from './request.ts';
import type { ResourceService } from './resource-service.ts';

const NO_FILTERS = new Set(['expand', 'compact', 'embed', 'showcredentials']);

/** A single read: the record with what `?embed=` asks for (D-037). Throws 403 without the right to view it. */
export function read(service: ResourceService, request: ResourceRequest, resource: StoredResource): Answer {
  service.demandView(request.act, resource);
  return ok(request.renderer.record(resource, embedWords(request.query, resource)));
}

/**
 * A list as the query asks for it (D-186, D-187, D-036), of what the caller may view (D-118): links, records with
 * `expand=true`, compact records with `compact=true`; whatever other parameters there are filter by equality. Throws 400
 * for a bad flag.
 */
export function list(service: ResourceService, request: ResourceRequest, resources: readonly StoredResource[]): Answer {
  const { query, renderer } = request;
  const expand = booleanParameter(query, 'expand');
  const compact = booleanParameter(query, 'compact');
  const isWanted = matcherOf(query, renderer);
  const selected = resources.filter((one) => isWanted(one) && service.canView(request.act, one));
  if (compact) return ok(selected.map((one) => renderer.compact(one)));
  return ok(selected.map((one) => (expand ? renderer.record(one) : renderer.link(one))));
}

/** The parameters of a query that filter a list. */
export function filtersIn(query: URLSearchParams): string[] {
  return [...new Set(query.keys())].filter((name) => !NO_FILTERS.has(name));
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

function matcherOf(query: URLSearchParams, renderer: Renderer): (resource: StoredResource) => boolean {
  const criteria = filtersIn(query).map((name) => criterion(name, singleParameter(query, name) ?? '', renderer));
  return (resource) => criteria.every((holds) => holds(resource));
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
  const ruleType = parseTypeName(wanted) ?? `Resource::Rule::${wanted}`;
  return (resource) => providers.has(resource.type) || resource.type === ruleType;
}

function fieldOf(resource: StoredResource, name: string, renderer: Renderer): Json | undefined {
  const stored = resource.properties;
  if (Object.hasOwn(stored, name) && !isReadDifferently(resource, name)) return stored[name];
  if (name === 'name' || name === 'description' || name === 'id') return resource[name];
  const shown = renderer.compact(resource).properties as JsonObject; // compact() always has this member
  return Object.hasOwn(shown, name) ? shown[name] : undefined;
}

/** Hidden values are no criteria: a filter must not tell what a read does not. */
function isReadDifferently(resource: StoredResource, name: string): boolean {
  const { hidden = [], unreadable = [] } = typeOf(resource);
  return hidden.includes(name) || unreadable.includes(name);
}

/** Scalars compare by their text, ids in any letter case; objects and lists match nothing (D-187). */
function isText(value: Json | undefined, wanted: string): boolean {
  if (value === undefined || value === null || typeof value === 'object') return false;
  const text = String(value);
  return text === wanted || (isUuid(wanted) && text.toLowerCase() === wanted.toLowerCase());
}
