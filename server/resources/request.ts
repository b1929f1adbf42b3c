import type { Request } from 'express';
import { readJson } from '../http/read-body.ts';
import { PlatformError } from '../model/errors.ts';
import { findOrganization } from '../model/hierarchy.ts';
import { parseUuid } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import { whatIs } from '../model/named-resources.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord, typeWords } from '../model/registry.ts';
import { isTypeWord, listedOnlyWords, referenceWords, type TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from './act.ts';
import { isListedBelow } from './lists.ts';
import type { Renderer } from './renderer.ts';

/** One authenticated request to the resource service, with its path taken apart as handlers ask for it. */
export class ResourceRequest {
  readonly act: Act;
  readonly query: URLSearchParams;
  readonly renderer: Renderer;
  readonly #view: WorldView;
  readonly #http: Request;

  /** Throws 400 for an unknown type word or a malformed id in the path, before anything is looked up (D-003). */
  constructor(options: { act: Act; query: URLSearchParams; renderer: Renderer; view: WorldView; http: Request }) {
    const { word, id, childWord, childId } = options.http.params;
    for (const given of [word, childWord]) if (typeof given === 'string') demandKnownWord(given);
    for (const given of [id, childId]) if (typeof given === 'string') parseUuid(given);
    this.act = options.act;
    this.query = options.query;
    this.renderer = options.renderer;
    this.#view = options.view;
    this.#http = options.http;
  }

  get verb(): string {
    return this.#http.method;
  }

  /** The path below `{meta_url}` as it was sent, without the query. */
  get path(): string {
    return this.#http.path;
  }

  /** A segment of the path by its name in the route, decoded. */
  segment(name: string): string {
    const value = this.#http.params[name];
    return typeof value === 'string' ? value : '';
  }

  /** The JSON body; undefined when empty (D-007). */
  json(): Promise<Json | undefined> {
    return readJson(this.#http);
  }

  /** The JSON body of a PATCH, which may also be `application/json-patch+json` (D-007). */
  patchJson(): Promise<Json | undefined> {
    return readJson(this.#http, { types: ['application/json-patch+json'] });
  }

  /** The organization that the path begins with; throws 404 when there is none (D-003). */
  organization(): StoredResource {
    const fqon = this.segment('fqon');
    const found = findOrganization(this.#view, fqon);
    if (!found) throw new PlatformError(404, `organization '${fqon}' not found`);
    return found;
  }

  /**
   * The resource that a `(type, id)` pair of the path names: of any type for `resources`, else of that type (D-003..D-005).
   * Throws 404 when there is no such organization or resource.
   */
  resource(word = this.segment('word'), idText = this.segment('id')): StoredResource {
    const id = parseUuid(idText);
    if (this.#http.params.fqon !== undefined) this.organization();
    const found = this.#view.find(id);
    if (!found || (word !== 'resources' && typeOf(found).word !== word)) {
      const noun = isTypeWord(word) ? typeOfWord(word).noun : 'resource';
      throw new PlatformError(404, `${noun} ${id} not found${found ? `: ${whatIs(found)}` : ''}`);
    }
    return found;
  }

  /**
   * The resource that the second pair names (D-004): to be read, it has to be listed below the first, to be written, its child. Throws
   * like `resource`.
   */
  childResource(): StoredResource {
    const parent = this.resource();
    const child = this.resource(this.segment('childWord'), this.segment('childId'));
    const isRead = this.verb === 'GET' || this.verb === 'HEAD';
    if (child.parent === parent.id || (isRead && isListedBelow(this.#view, parent, child))) return child;
    if (isListedBelow(this.#view, parent, child)) throw onlyReferred(this, parent, child);
    throw new PlatformError(
      404,
      `${typeOf(child).noun} ${child.id} not found in ${typeOf(parent).noun} '${parent.name}'`,
    );
  }

  /** The type word at a place of the path; undefined for words whose lists are always empty (D-190). */
  listWord(name: string): TypeWord | 'resources' | undefined {
    const word = this.segment(name);
    return isTypeWord(word) || word === 'resources' ? word : undefined;
  }
}

/** The 404 of a write through a list that only refers (D-004); it names the address that does what was meant. */
function onlyReferred(request: ResourceRequest, parent: StoredResource, child: StoredResource): PlatformError {
  const [owner, one] = [typeOf(parent), typeOf(child)];
  const at = `/${request.segment('fqon')}`;
  const membership = `; to end the membership, DELETE ${at}/groups/${parent.id}/users?id=${child.id}`;
  return new PlatformError(
    404,
    `${one.noun} ${child.id} is no child of ${owner.noun} ${parent.id}, which only refers to it: use ${request.verb} ${at}/${one.word}/${child.id}${owner.word === 'groups' ? membership : ''}`,
  );
}

const knownWords: ReadonlySet<string> = new Set([
  ...typeWords,
  ...listedOnlyWords,
  ...referenceWords,
  'resources',
  'entitlements',
]);

function demandKnownWord(word: string): void {
  if (!knownWords.has(word)) throw new PlatformError(400, `unknown resource type '${word.slice(0, 64)}'`);
}

/** What a handler gives back. */
export interface Answer {
  status: 200 | 201 | 202 | 204 | 503;
  body?: Json;
  headers?: Record<string, string>;
}

/** A route of the resource service; the path is relative to `{meta_url}`. */
export interface Route {
  verb: 'get' | 'post' | 'patch' | 'put' | 'delete';
  path: string;
  /** Is there such a route at all, of those that the path stands for? Asked before the caller is known (D-010). */
  exists?(segment: (name: string) => string): boolean;
  /** Resolves to undefined when the request is for a later route of the same path. */
  handle(request: ResourceRequest): Answer | undefined | Promise<Answer | undefined>;
}

/** 200 with a JSON body. */
export function ok(body: Json): Answer {
  return { status: 200, body };
}

/** 201 with the new record and where it is (D-008). */
export function created(resource: StoredResource, renderer: Renderer): Answer {
  return { status: 201, body: renderer.record(resource), headers: { Location: renderer.hrefOf(resource) } };
}

/** The 404 of D-010, where a route exists for some types only. */
export function noRoute(request: ResourceRequest): PlatformError {
  return new PlatformError(404, `no route: ${request.verb} ${request.path}`);
}
