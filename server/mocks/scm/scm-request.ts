import { pipeline, Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { invalidValue, missing, notFound, ScmError } from './scm-error.ts';
import type { ScmHooks } from './scm-hooks.ts';
import type { ScmPipelines } from './scm-pipelines.ts';
import type { ScmProjects } from './scm-projects.ts';
import type { ScmRepositories } from './scm-repositories.ts';
import { pathWithNamespace, type ScmGroup, type ScmMergeRequest, type ScmProject } from './scm-state.ts';
import type { ScmViews } from './scm-views.ts';

export interface ScmParts {
  projects: ScmProjects;
  views: ScmViews;
  repositories: ScmRepositories;
  hooks: ScmHooks;
  pipelines(): ScmPipelines;
  onFault(fault: unknown): void;
}

/** Handlers by `METHOD PATH`. Each returns the response: a list, of which a page is sent, or a record; that of a DELETE is not sent. */
export type Routes = Record<string, (request: ScmRequest) => object | undefined | Promise<object | undefined>>;

const DEFAULT_PER_PAGE = 20;
const MAX_PER_PAGE = 100;
const TRUE = ['true', 't', '1', 'on', 'yes', 'y'];
const FALSE = ['false', 'f', '0', 'off', 'no', 'n'];

/** A response that is not JSON. */
export const raw =
  (type: string, body: Buffer | string | Readable, fileName?: string) =>
  (res: Response): void => {
    if (fileName !== undefined) res.attachment(fileName);
    res.set('Content-Type', type);
    if (body instanceof Readable) pipeline(body, res, () => undefined);
    else res.send(body);
  };

/** A request with the objects named in its path, query and body. Missing ones throw 404, invalid ones 400. */
export class ScmRequest {
  readonly #req: Request;
  readonly #projects: ScmProjects;

  constructor(req: Request, projects: ScmProjects) {
    this.#req = req;
    this.#projects = projects;
  }

  get project(): ScmProject {
    return this.#projects.get(this.param('project'));
  }

  get group(): ScmGroup {
    return this.#projects.group(this.param('group'));
  }

  get mergeRequest() {
    return this.#projects.mergeRequest(this.project, this.param('iid'));
  }

  get note() {
    return this.entryOf(this.mergeRequest.notes, 'Note', 'note');
  }

  /** The record of a list that the path names by its number. */
  entryOf<T extends { id: number }>(all: readonly T[] | undefined, noun: string, param = 'id'): T {
    const found = all?.find(({ id }) => String(id) === this.param(param));
    if (!found) throw notFound(noun);
    return found;
  }

  /** Returns a parameter of the path, which can contain slashes if the route has a wildcard. */
  param(name: string): string {
    return [this.#req.params[name] ?? []].flat().join('/');
  }

  /** A member of the body, or otherwise of the query. */
  text(name: string): string | undefined {
    const value = Object(this.#req.body)[name] ?? this.#req.query[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw invalidValue(name);
    return String(value);
  }

  /** A list of objects in the body. Throws 400 if it is missing. */
  list(name: string): object[] {
    const items: unknown = Object(this.#req.body)[name];
    if (items === undefined) throw missing(name);
    if (!Array.isArray(items) || !items.every((item) => item !== null && typeof item === 'object'))
      throw invalidValue(name);
    return items;
  }

  /** `variables` of a request that starts a pipeline. Throws 400. */
  sentVariables(): Record<string, string> {
    if (Object(this.#req.body).variables === undefined) return {};
    const pairs = this.list('variables').map((variable) => {
      const { key, value } = Object(variable);
      if (typeof key !== 'string' || !/^[A-Za-z_]\w*$/.test(key) || typeof value !== 'string')
        throw invalidValue('variables');
      return [key, value];
    });
    return Object.fromEntries(pairs);
  }

  /** A list of texts in the body, or otherwise in the query. */
  texts(name: string): string[] {
    return this.#list(name) ?? [];
  }

  /** A list of names, or a text with commas between them; undefined if it was not sent. */
  names(name: string): string[] | undefined {
    const names = this.#list(name)?.flatMap((text) => text.split(',').map((part) => part.trim()));
    return names && [...new Set(names)].filter((trimmedName) => trimmedName !== '');
  }

  #list(name: string): string[] | undefined {
    const { body, query } = this.#req;
    const value: unknown = [Object(body), query]
      .map((from) => from[`${name}[]`] ?? from[name])
      .find((candidate) => candidate !== undefined && candidate !== null);
    return value === undefined ? undefined : [value].flat().map(String);
  }

  /** Returns the members. Throws 400 if one is missing or empty. */
  required<N extends string>(...names: N[]): Record<N, string> {
    const lacking = names.filter((name) => !this.text(name));
    if (lacking.length > 0) throw missing(...lacking);
    return this.optional(...names) as Record<N, string>; // none is lacking
  }

  /** Returns those of the members that the request contains. */
  optional<N extends string>(...names: N[]): { [K in N]?: string } {
    const members = names.map((name) => [name, this.text(name)]).filter(([, value]) => value !== undefined);
    return Object.fromEntries(members);
  }

  /** A boolean in any format that the real server accepts. */
  flag(name: string): boolean | undefined {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined || value === '') return undefined;
    if (TRUE.includes(value)) return true;
    if (FALSE.includes(value)) return false;
    throw new ScmError(400, { error: `${name} is invalid` });
  }

  /** True if the request has no such member, or this value. */
  isAsked(name: string, value: string): boolean {
    return (this.text(name) ?? value) === value;
  }

  /** Environment scope by which the body or the query filters. */
  get scope(): unknown {
    return this.text('filter[environment_scope]') ?? Object(Object(this.#req.body).filter).environment_scope;
  }
}

/** Responds with one page of a list, with the pagination headers. */
export function sendPage(req: Request, res: Response, all: readonly object[], selfUrl: string): void {
  const page = count(req, 'page', 1);
  const perPage = Math.min(count(req, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE);
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const link = (to: number, rel: string) => {
    const url = new URL(req.originalUrl, selfUrl);
    url.searchParams.delete('private_token');
    url.searchParams.set('page', String(to));
    url.searchParams.set('per_page', String(perPage));
    return `<${url}>; rel="${rel}"`;
  };
  const before = page > 1 ? [page - 1] : [];
  const after = page < pages ? [page + 1] : [];
  const neighborLinks = [...after.map((to) => link(to, 'next')), ...before.map((to) => link(to, 'prev'))];
  res.set({
    Link: [...neighborLinks, link(1, 'first'), link(pages, 'last')].join(', '),
    'X-Page': String(page),
    'X-Per-Page': String(perPage),
    'X-Prev-Page': before.join(),
    'X-Next-Page': after.join(),
    'X-Total': String(all.length),
    'X-Total-Pages': String(pages),
  });
  res.json(all.slice((page - 1) * perPage, page * perPage));
}

function count(req: Request, name: string, unless: number): number {
  const { [name]: value } = req.query;
  if (value === undefined || value === '') return unless;
  if (typeof value !== 'string' || !/^[1-9]\d{0,8}$/.test(value)) throw invalidValue(name);
  return Number(value);
}

/** The pages contain no scripts, load nothing and send nothing. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
} as const;

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}' +
  'article{border:1px solid #8885;border-radius:8px;padding:.7rem 1rem;margin:.8rem 0;white-space:pre-wrap}small{opacity:.7}';

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Text in which http addresses are links. */
function linked(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>()"'`]+)/)
    .map((part, index) => (index % 2 === 1 ? `<a href="${escaped(part)}">${escaped(part)}</a>` : escaped(part)))
    .join('');
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title><style>${STYLE}</style><main>${body}</main></html>`;
}

export function projectPage(project: ScmProject): string {
  const full = pathWithNamespace(project);
  const requests = project.merge_requests.map(
    ({ iid, title, state }) =>
      `<li><a href="/${escaped(full)}/-/merge_requests/${iid}">!${iid} ${escaped(title)}</a> <small>${state}</small></li>`,
  );
  const environmentItems = project.environments.map(
    ({ name, state, external_url: url }) =>
      `<li>${escaped(name)} <small>${state}</small> ${url ? linked(url) : ''}</li>`,
  );
  const section = (title: string, items: string[]) =>
    `<h2>${title}</h2>${items.length > 0 ? `<ul>${items.join('')}</ul>` : '<p>None yet.</p>'}`;
  return page(
    full,
    `<h1>${escaped(full)}</h1>${section('Merge requests', requests)}${section('Environments', environmentItems)}`,
  );
}

export function mergeRequestPage(project: ScmProject, mergeRequest: ScmMergeRequest): string {
  const { iid, title, state, source_branch, target_branch, description, notes } = mergeRequest;
  const full = pathWithNamespace(project);
  const head = `<p><a href="/${escaped(full)}">${escaped(full)}</a></p><h1>!${iid} ${escaped(title)}</h1>`;
  const way = `<p><small>${state} · ${escaped(source_branch)} → ${escaped(target_branch)}</small></p>`;
  const noteItems = notes.map(
    ({ author, created_at, body }) =>
      `<article><small>${escaped(author.name)}, <time>${escaped(created_at)}</time></small>\n${linked(body)}</article>`,
  );
  return page(`!${iid} ${title}`, `${head}${way}<p>${linked(description)}</p>${noteItems.join('')}`);
}
