import type { Response } from 'express';
import type { Routes } from '../../api/routes/route.ts';
import { type Handlers, JsonText, type MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import { idIn, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { nearestNames } from '../../model/nearest.ts';
import { isUuid, parseUuid, type StoredResource } from '../../model/record.ts';
import { fullNamesOf, typeOf, typeOfWord } from '../../model/registry.ts';
import { idProperties } from '../../model/rules/references.ts';
import { hiddenProperties } from '../../model/rules/secrets.ts';
import { parseTypeName, providerTypesMatching } from '../../model/type-names.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { HOME_KEY, shapeOf } from '../../model/types/schema-parts.ts';
import type { Actor } from './actor.ts';
import type { PathResolvers } from './paths.ts';
import type { RecordView, Renderer } from './renderer.ts';
import type { ResourceService } from './resource-service.ts';

const ruleTypes: readonly string[] = fullNamesOf(typeOfWord('rules'));

interface ListForm {
  expand: boolean;
  compact: boolean;
}

export interface Listing extends ExtraInput {
  query: ListForm & { filter: Readonly<Record<string, string>> };
}

/** A single read: the record with what `?embed=` asks for (D-037). */
export function read(
  { renderer, query }: ExtraInput & { query: { embed?: string[] } },
  resource: StoredResource,
): RecordView | JsonText {
  const embed = embeddable(query.embed, Object.keys(typeOf(resource).embed ?? {}));
  return embed.length > 0 ? renderer.record(resource, embed) : new JsonText(renderer.text(resource));
}

/** A list of resources of one moment that the caller may view (D-118), filtered (D-187). Throws 400 for an unknown filter or type. */
export function list(
  service: ResourceService,
  { actor, renderer, query }: Listing,
  resources: readonly StoredResource[],
  collection: TypeWord | 'resources',
): Json[] | JsonText {
  const criteria = Object.entries(query.filter).map(([name, expected]) =>
    name === 'type' ? subTypeCriterion(expected, collection, renderer) : criterion(name, expected, renderer),
  );
  requireFilters(query.filter, collection);
  const isSelected = (resource: StoredResource) =>
    criteria.every((matches) => matches(resource)) && service.canView(actor, resource);
  const selected = resources.filter(isSelected);
  return query.expand && !query.compact
    ? JsonText.list(selected.map((record) => renderer.text(record)))
    : inForm(query, selected, renderer);
}

/** Links; records with `expand=true` (D-186); records without who and when with `compact=true` (D-036). */
export function inForm<T>(
  { expand, compact }: ListForm,
  elements: readonly T[],
  forms: { link(element: T): JsonObject; record(element: T): JsonObject },
): JsonObject[] {
  if (!expand && !compact) return elements.map((element) => forms.link(element));
  const records = elements.map((element) => forms.record(element));
  return compact ? records.map(({ org, owner, created, modified, ...rest }) => rest) : records;
}

/** The words of `?embed=`; throws 400 for one that the type does not know (D-037). */
export function embeddable(embedNames: string[] = [], knownNames: readonly string[] = []): string[] {
  const unknown = embedNames.find((embedName) => !knownNames.includes(embedName));
  if (unknown !== undefined) {
    const choice =
      knownNames.length > 0 ? `this type can embed ${knownNames.join(', ')}` : 'this type can embed nothing';
    throw new PlatformError('invalid_query', `cannot embed '${unknown.slice(0, 64)}': ${choice}`);
  }
  return embedNames;
}

type Criterion = (resource: StoredResource) => boolean;

function criterion(name: string, expected: string, renderer: Renderer): Criterion {
  return (resource) =>
    name === 'providerId' && typeOf(resource).collection === 'secrets'
      ? idIn(resource.properties.provider) === expected.toLowerCase()
      : isText(fieldOf(resource, name, renderer), expected);
}

/** `?type=` of providers and rules (D-065, D-015): `Event`, `Limit`, or a type's name or UUID. Throws 400 in their lists for another (D-187). */
function subTypeCriterion(typeText: string, listed: string, renderer: Renderer): Criterion {
  const providers = providerTypesMatching(typeText);
  const ruleType = parseTypeName(typeText) ?? `Resource::Rule::${typeText}`;
  if ((listed === 'providers' && providers.size === 0) || (listed === 'rules' && !ruleTypes.includes(ruleType)))
    throw new PlatformError('invalid_query', `unknown ${listed.slice(0, -1)} type '${typeText.slice(0, 64)}'`);
  const ofOtherTypes = criterion('type', typeText, renderer);
  return (resource) =>
    ['providers', 'rules'].includes(typeOf(resource).collection)
      ? providers.has(resource.type) || resource.type === ruleType
      : ofOtherTypes(resource);
}

function fieldOf(resource: StoredResource, name: string, renderer: Renderer): Json | undefined {
  const stored = resource.properties;
  // Hidden values cannot be criteria, because a filter would reveal them.
  if (Object.hasOwn(stored, name) && !hiddenProperties(typeOf(resource)).includes(name)) return stored[name];
  if (name === 'name' || name === 'description' || name === 'id') return resource[name];
  return memberOf(renderer.properties(resource), name);
}

/** Is a field what is wanted? Scalars compare by their text, objects by their ids, in any letter case; lists match nothing (D-187). */
export function isText(value: Json | undefined, expected: string): boolean {
  const scalar = typeof value === 'object' ? memberOf(value, 'id') : value;
  if (scalar === undefined || scalar === null || typeof scalar === 'object') return false;
  const text = String(scalar);
  return text === expected || (isUuid(expected) && text.toLowerCase() === expected.toLowerCase());
}

/** Context that handlers of the resource service get with each request, in addition to their parsed input. */
export interface ExtraInput {
  actor: Actor;
  renderer: Renderer;
}

export interface ResourceRouteParts {
  service: ResourceService;
  answer<Table extends Routes>(table: Table, handlers: Handlers<Table, PathResolvers, ExtraInput>): MountedRoute[];
}

/** Creates a resource from the body of a request; answers with the new record, and where it is (D-008). */
export async function create(
  service: ResourceService,
  { actor, renderer, body, res }: ExtraInput & { body: Json | undefined; res: Response },
  parent: StoredResource,
  collection: TypeWord,
): Promise<RecordView> {
  const resource = await service.create(actor, parent.id, collection, body);
  res.set('Location', renderer.hrefOf(resource));
  return renderer.record(resource);
}

/** Members of every record that a list can be filtered by besides its properties (D-187). */
const MEMBERS = ['name', 'description', 'id', 'parent'];
const IDS = ['id', 'parent', 'providerId'];
const OF_WORDS: Partial<Record<TypeWord, readonly string[]>> = {
  secrets: ['providerId'],
  providers: ['type'],
  rules: ['type'],
};

/** Matches the names by which lists of other services are paged. */
const PAGING = /^(limit|offset|page|per_?page|page_?(size|number|token)|max_?results|cursor|skip)$/i;

/** Throws 400 for a filter that the type does not know, with the nearest names (D-187). Types with open properties know any. */
function requireFilters(filter: Readonly<Record<string, string>>, collection: TypeWord | 'resources'): void {
  const names = Object.keys(filter);
  for (const name of names) {
    const isId =
      IDS.includes(name) || (collection !== 'resources' && idProperties(typeOfWord(collection)).includes(name));
    if (isId) parseUuid(filter[name] ?? '', `filter '${name}'`);
  }
  if (collection === 'resources') {
    requireKnown(
      names.filter((name) => PAGING.test(name)),
      [],
      collection,
    );
    return;
  }
  const type = typeOfWord(collection);
  const hidden = hiddenProperties(type);
  const ofTable = [...Object.keys(shapeOf(type.properties)), ...type.serverSet].filter(
    (name) => !hidden.includes(name),
  );
  const knownNames = [...MEMBERS, ...(OF_WORDS[collection] ?? []), ...ofTable];
  const isKnown = (name: string) => knownNames.includes(name) || (collection === 'users' && HOME_KEY.test(name));
  const isUnknown = (name: string) => !isKnown(name) && (collection !== 'providers' || PAGING.test(name));
  requireKnown(names.filter(isUnknown), knownNames, collection);
}

export function requireKnown(unknown: readonly string[], knownNames: readonly string[], subject: string): void {
  const [first] = unknown;
  if (first === undefined) return;
  if (PAGING.test(first)) {
    const message = `'${first}' is not a filter: lists are not paged, and the response has all elements. Leave it out`;
    throw new PlatformError('invalid_query', message);
  }
  const nearest = nearestNames(first, knownNames);
  const hint = nearest.length > 0 ? `did you mean ${nearest.join(', ')}?` : `valid names: ${knownNames.join(', ')}`;
  const message = `${subject} have no property '${first.slice(0, 64)}' to filter by; ${hint}`;
  throw new PlatformError('invalid_query', message);
}
