import type { Request } from 'express';
import { readJson } from '../http/read-body.ts';
import { PlatformError } from '../model/errors.ts';
import { findOrganization } from '../model/hierarchy.ts';
import { parseUuid } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { isTypeWord, listedOnlyWords, referenceWords, type TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from './act.ts';
import type { Renderer } from './renderer.ts';

/** One authenticated request to the resource service, with its path taken apart as handlers ask for it. */
export class ResourceRequest {
  readonly act: Act;
  readonly query: URLSearchParams;
  readonly renderer: Renderer;
  readonly #view: WorldView;
  readonly #http: Request;

  constructor(options: { act: Act; query: URLSearchParams; renderer: Renderer; view: WorldView; http: Request }) {
    this.act = options.act;
    this.query = options.query;
    this.renderer = options.renderer;
    this.#view = options.view;
    this.#http = options.http;
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
   * Throws 400 for an unknown type word or a malformed id, 404 when there is no such organization or resource.
   */
  resource(wordText = this.segment('word'), idText = this.segment('id')): StoredResource {
    const word = knownWord(wordText);
    const id = parseUuid(idText);
    if (this.#http.params.fqon !== undefined) this.organization();
    const found = this.#view.find(id);
    if (!found || (word !== 'resources' && typeOf(found).word !== word)) {
      throw new PlatformError(404, `${word === 'resources' ? 'resource' : word} ${id} not found`);
    }
    return found;
  }

  /** The type word at a place of the path; undefined for words whose lists are always empty (D-190). */
  listWord(name: string): TypeWord | 'resources' | undefined {
    const word = knownWord(this.segment(name));
    return isTypeWord(word) || word === 'resources' ? word : undefined;
  }
}

/** A type word of D-006 as it is; throws 400 for any other (D-003). */
function knownWord(word: string): string {
  const isKnown =
    isTypeWord(word) ||
    word === 'resources' ||
    word === 'entitlements' ||
    [...listedOnlyWords, ...referenceWords].some((one) => one === word);
  if (!isKnown) throw new PlatformError(400, `unknown resource type '${word.slice(0, 64)}'`);
  return word;
}

/** What a handler gives back. */
export interface Answer {
  status: 200 | 201 | 202 | 204;
  body?: Json;
  headers?: Record<string, string>;
}

/** A route of the resource service; the path is relative to `{meta_url}`. */
export interface Route {
  verb: 'get' | 'post' | 'patch' | 'put' | 'delete';
  path: string;
  handle(request: ResourceRequest): Answer | Promise<Answer>;
}

/** 200 with a JSON body. */
export function ok(body: Json): Answer {
  return { status: 200, body };
}
