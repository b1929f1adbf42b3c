import path from 'node:path';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { resourceTypes } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { readSeedDocument, readUtf8, type SeedDocument } from './seed-document.ts';

/** Who gets which rights on a resource (D-115). Identities are references to users and groups. */
export interface SeedGrant {
  actions: string[];
  /** Added to the inherited identities. */
  identities?: string[] | undefined;
  /** Removed from the inherited identities. */
  without?: string[] | undefined;
  value?: Json | undefined;
}

/** One resource of a seed file, and all below it. */
export interface SeedNode {
  word: TypeWord;
  name: string;
  /** Null for the root organization, which is there already. */
  parent: SeedNode | null;
  /** Where it stands in the file. */
  path: readonly string[];
  /** The body of its creation (D-030) but for name and properties. */
  record: JsonObject;
  /** What they name is not resolved yet. */
  properties: JsonObject;
  grants: SeedGrant[];
  children: SeedNode[];
}

/** A seed file that was read and understood. */
export interface SeedPlan {
  /** Make the default providers first (D-067)? */
  defaultProviders: boolean;
  root: SeedNode;
  errorAt: SeedDocument['errorAt'];
}

/** Everything below a node, parents before children, in the order of the file. */
export function* descendants(node: SeedNode): Generator<SeedNode> {
  for (const child of node.children) {
    yield child;
    yield* descendants(child);
  }
}

const json = z.json();
const references = z.array(z.string()).optional();
const entitlements = z
  .array(
    z.strictObject({
      actions: z.array(z.string().regex(/^[a-z]+\.[a-z]+$/, 'must be an action such as lambda.view')).min(1),
      identities: references,
      without: references,
      value: json.optional(),
    }),
  )
  .optional();

const fileSchema = z.strictObject({
  format: z.literal(1, 'must be 1: the version of the seed format'),
  defaultProviders: z.boolean().optional(),
  entitlements,
});
const nodeSchema = z.strictObject({
  id: z.string().optional(),
  description: z.string().optional(),
  resource_type: z.string().optional(),
  tags: z.array(z.string()).optional(),
  variables: z.record(z.string(), z.string()).optional(),
  properties: z.record(z.string(), json).optional(),
  codeFile: z.string().optional(),
  entitlements,
});

/**
 * Reads a seed file: YAML or JSON, a tree of resources from the root organization down.
 *
 * ```yaml
 * format: 1
 * defaultProviders: true        # the default
 * orgs:                         # a type's path word, then resources by name
 *   demo:
 *     properties: {}            # as in the body of a POST: id, description, properties, resource_type, tags, variables
 *     entitlements:             # on this resource, valid for all below
 *       - { actions: [lambda.view], identities: [developers], without: [] }
 *     lambdas:
 *       hello: { codeFile: hello.js, properties: { provider: { id: default-lambda } } }
 * ```
 * Where a property names a resource there may stand its id, its path from the root organization, such as
 * `/demo/website/development/contact-form` (a `/` inside a name is written `~1`), or its name, which is looked for here and
 * then upwards.
 *
 * @throws SeedError that names file, line and JSON Pointer and says what was expected
 */
export async function readSeed(file: string): Promise<SeedPlan> {
  const document = await readSeedDocument(file);
  const root: SeedNode = {
    word: 'orgs',
    name: 'root',
    parent: null,
    path: [],
    record: {},
    properties: {},
    grants: [],
    children: [],
  };
  const content = document.content ?? {};
  const { defaultProviders = true, entitlements: grants = [] } = readMembers(document, fileSchema, content, root);
  root.grants = grants;
  root.children = await readChildren(document, content, root);
  return { defaultProviders, root, errorAt: document.errorAt };
}

async function readNode(
  document: SeedDocument,
  value: unknown,
  place: Pick<SeedNode, 'word' | 'name' | 'parent' | 'path'>,
): Promise<SeedNode> {
  const members = readMembers(document, nodeSchema, value, place);
  const { entitlements: grants = [], properties = {}, codeFile, ...record } = members;
  if (codeFile !== undefined) properties.code = await readCode(document, codeFile, place, properties);
  // zod types an optional member as possibly undefined, but leaves out what is absent: this is JSON.
  const node: SeedNode = { ...place, record: record as JsonObject, properties, grants, children: [] };
  node.children = await readChildren(document, value, node);
  return node;
}

/** The resources in the collections of a node, in the order of the file. */
async function readChildren(document: SeedDocument, value: unknown, parent: SeedNode): Promise<SeedNode[]> {
  const words = childWordsOf(parent.word);
  const children: SeedNode[] = [];
  for (const [key, collection] of Object.entries(isJsonObject(value) ? value : {})) {
    const word = words.find((known) => known === key);
    if (!word || collection === null) continue;
    const path = [...parent.path, word];
    if (!isJsonObject(collection)) throw document.errorAt(path, `expected ${word} by name, such as {my-name: {...}}`);
    for (const [name, body] of Object.entries(collection)) {
      children.push(await readNode(document, body ?? {}, { word, name, parent, path: [...path, name] }));
    }
  }
  return children;
}

/** A node's own members, all but its collections. */
function readMembers<T extends z.ZodObject>(
  document: SeedDocument,
  schema: T,
  value: unknown,
  { word, path }: Pick<SeedNode, 'word' | 'path'>,
): z.output<T> {
  const words: readonly string[] = childWordsOf(word);
  const own = isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => !words.includes(key)))
    : value;
  const result = schema.safeParse(own);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const known = issue.path.length === 0 ? `; known here: ${[...Object.keys(schema.shape), ...words].join(', ')}` : '';
    throw document.errorAt([...path, ...issue.path, ...issue.keys.slice(0, 1)], `is not a known member${known}`);
  }
  throw document.errorAt([...path, ...(issue?.path ?? [])], issue?.message ?? 'is not valid');
}

/** The words of the types that may be created below one. */
function childWordsOf(word: TypeWord): TypeWord[] {
  return resourceTypes.filter((type) => type.parents.includes(word)).map((type) => type.word);
}

/** A lambda's source as its `code` property has it (D-056). */
async function readCode(
  document: SeedDocument,
  codeFile: string,
  place: Pick<SeedNode, 'word' | 'path'>,
  properties: JsonObject,
): Promise<string> {
  const where = [...place.path, 'codeFile'];
  if (place.word !== 'lambdas') throw document.errorAt(where, 'is for lambdas only');
  if ('code' in properties) throw document.errorAt(where, 'stands beside properties.code; give one of them');
  try {
    const source = await readUtf8(path.resolve(path.dirname(document.file), codeFile));
    return Buffer.from(source).toString('base64');
  } catch (cause) {
    throw document.errorAt(where, `the code cannot be read: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}
