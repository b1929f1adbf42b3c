import express, { type Request, type Router } from 'express';
import type { Operation } from 'fast-json-patch';
import { booleanParameter, queryOf, singleParameter } from '../http/query.ts';
import { readText } from '../http/read-body.ts';
import type { Caller } from '../model/caller.ts';
import type { CodeToRun } from '../model/code-to-run.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { TypeWord } from '../model/type-words.ts';

/** What a seed does, or would do, to one resource. */
export interface SeedChange {
  /** Names from the root organization down, `/demo/website/development/contact-form`; the root organization is `/`. */
  path: string;
  type: TypeWord;
  /** Absent for what a dry run would create. */
  id?: Uuid;
  action: 'create' | 'update' | 'delete' | 'unchanged';
  /**
   * RFC 6902 operations on the resource as a seed document writes it, references as paths: an `add` or a `remove` of the
   * whole (path ``) for one that is created or deleted, none for one that is unchanged.
   */
  patch: Operation[];
}

/** The answer to `POST /inspect/apply`. */
export interface AppliedSeed {
  dryRun: boolean;
  summary: Record<SeedChange['action'], number>;
  /** Every resource of the document, and every other that is changed. */
  changes: SeedChange[];
  /** What of the code in it runs from now on, at once or when it is called; absent when nothing does (D-215). */
  runs?: Omit<CodeToRun, 'id'>[];
  /** Sequence number of the one commit that was made; absent when nothing was to be changed, and in a dry run. */
  commit?: number;
}

/** A seed document as it was sent. */
export interface SentSeed {
  format: 'json' | 'yaml';
  text: string;
}

/** Whoever can apply and make seed documents. What it refuses it throws as PlatformError whose pointers lead into the document. */
export interface SeedDesk {
  apply(caller: Caller, sent: SentSeed, wish: { dryRun: boolean; prune: boolean }): Promise<AppliedSeed>;
  /**
   * @param scope path of an organization, `/` for everything
   * @throws PlatformError 400, 404 when it names none
   */
  export(scope: string, format: SentSeed['format']): string;
}

const JSON_TYPE = 'application/json';
/** RFC 9512, and what was usual before it. */
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'] as const;

/**
 * Seeds over HTTP, for the root user only.
 *
 * - `POST /apply?dryRun=&prune=`: makes the world what the seed document in the body says (JSON or YAML, lambda code
 *   inline), in one commit or not at all. With `dryRun=true` it only answers what it would do; with `prune=true` it also
 *   deletes what stands below the organizations of the document and not in it. 200 `AppliedSeed`.
 * - `GET /export?scope=/demo`: the world, or one organization with all below it, as such a document: YAML, or JSON where
 *   the Accept header prefers that. Values that nobody may read stand there as `<not exported>`.
 *
 * @param callerOf throws 401
 */
export function seedRoutes(seeds: SeedDesk, callerOf: (req: Request) => Caller): Router {
  const rootOf = (req: Request): Caller => {
    const caller = callerOf(req);
    if (caller.isRoot) return caller;
    throw new PlatformError(403, 'only the root user may apply and export seeds; sign in as root');
  };

  const router = express.Router({ caseSensitive: true });
  router.post('/apply', async (req, res) => {
    const caller = rootOf(req);
    const query = parametersOf(req, 'dryRun', 'prune');
    const wish = { dryRun: booleanParameter(query, 'dryRun'), prune: booleanParameter(query, 'prune') };
    const { type, text } = await readText(req, [JSON_TYPE, ...YAML_TYPES]);
    if (text === '') throw new PlatformError(400, 'send the seed document as the body, as JSON or YAML');
    res.json(await seeds.apply(caller, { format: type === JSON_TYPE ? 'json' : 'yaml', text }, wish));
  });
  router.get('/export', (req, res) => {
    rootOf(req);
    const scope = singleParameter(parametersOf(req, 'scope'), 'scope') ?? '/';
    const isJson = req.accepts([YAML_TYPES[0], JSON_TYPE]) === JSON_TYPE;
    const text = seeds.export(scope, isJson ? 'json' : 'yaml');
    res
      .vary('Accept')
      .type(isJson ? JSON_TYPE : YAML_TYPES[0])
      .send(text);
  });
  return router;
}

/** The query; throws 400 for a parameter that is not known, since a mistyped `dryRun` would change the world. */
function parametersOf(req: Request, ...known: string[]): URLSearchParams {
  const query = queryOf(req);
  for (const name of query.keys()) {
    if (!known.includes(name)) {
      throw new PlatformError(400, `unknown query parameter '${name.slice(0, 64)}'; known are ${known.join(', ')}`);
    }
  }
  return query;
}
