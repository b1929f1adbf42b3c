import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  MALFORMED_TEXT,
  memberOf,
  pathOfMalformedText,
} from '../../model/json.ts';
import { outboundRulesRequest } from '../../model/outbound-rules-request.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import { parsingOf } from '../../model/rules/validate.ts';
import type { SeedDocument } from './parse-seed-document.ts';
import { readPreparedSeedDocument, readSeedDocument, readUtf8, seedFileAt, sentSeedDocument } from './seed-document.ts';
import { childWordsOf, descendants, json, type Seed, type SeedNode, seedGrant } from './seed-node.ts';
import { type Environment, replaceVariables } from './seed-variables.ts';

const ownMembers = {
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  variables: z.record(z.string(), z.string()).optional(),
  properties: z.record(z.string(), json).optional().describe('As in the body of a POST'),
  entitlements: z.array(seedGrant).optional(),
};
/** The members of a world file, besides its collections. */
export const fileSchema = z.strictObject({
  format: z.literal(1, 'must be 1: the version of the seed format').describe('Version of the format'),
  $schema: z.string().optional().describe('Address of the JSON Schema, for editors'),
  scope: z
    .string()
    .optional()
    .describe('Path of an organization, such as /demo: `apply --prune` deletes only below it'),
  defaultProviders: z.boolean().optional().describe('Create the default providers (default: true)'),
  replaceVariables: z
    .boolean()
    .optional()
    .describe('Replace variables in the texts of a file with values from the environment and `.env` (default: true)'),
  outbound: outboundRulesRequest.shape.rules
    .optional()
    .describe('Rules for outbound calls, in place of the present ones. A `file` can be relative to the world file'),
  ...ownMembers,
});
/** The members of a resource in a world file, besides its collections. */
export const nodeSchema = z.strictObject({
  id: z.string().optional().describe('A fixed id'),
  name: z.string().optional().describe('The name, if it differs from the key'),
  resource_type: z.string().optional().describe('For types with subtypes, such as providers and rules'),
  codeFile: z.string().optional().describe('For lambdas: file with the code, relative to the world file'),
  ...ownMembers,
});

/** The folder that the files in a document are relative to; undefined for a document that is sent, which cannot name any. */
type Folder = string | undefined;

/**
 * Reads a seed file, or the one in a folder, in YAML or JSON. docs/reference/world-file.md describes its members and references.
 *
 * @param environment values of the variables in the texts of the file (`replaceVariables`)
 * @throws SeedError that names file, line and JSON Pointer and says what was expected
 */
export async function readSeed(fileOrFolder: string, environment: Environment = process.env): Promise<Seed> {
  const file = await seedFileAt(fileOrFolder);
  return understand(await replaceVariables(await readSeedDocument(file), environment), folderOf(file));
}

/** Reads a file that ships with Terrarium; see `readPreparedSeedDocument`. */
export async function readPreparedSeed(file: string, preparedFile: string): Promise<Seed> {
  return understand(await readPreparedSeedDocument(file, preparedFile), folderOf(file));
}

function folderOf(file: string): string {
  return path.resolve(path.dirname(file));
}

/** Reads content that code passes in; the code of its lambdas is read from files relative to the working folder. */
export async function readGivenSeed(content: object): Promise<Seed> {
  // What is no JSON, such as a function, is left out here as it would be in a file.
  const document = sentSeedDocument('seed', JSON.parse(JSON.stringify(content)));
  return understand(document, path.resolve());
}

/** Reads a document from a request, which must contain its lambda code. Throws SeedError. */
export function readSentSeed(document: SeedDocument): Promise<Seed> {
  return understand(document, undefined);
}

/** Reads a seed file for `POST /inspect/apply`, with its code. `placeOf` finds a JSON Pointer of the response in the file, e.g. `demo.yaml:12`. */
export async function readSeedFileForApply(
  fileOrFolder: string,
  environment: Environment = process.env,
): Promise<{ document: JsonObject; placeOf(pointer: string): string }> {
  const file = await seedFileAt(fileOrFolder);
  const source = await replaceVariables(await readSeedDocument(file), environment);
  const seed = await understand(source, folderOf(file));
  // Aliases lead to one and the same object; a copy has one for each place.
  const document: JsonObject = JSON.parse(JSON.stringify(source.content));
  if (seed.outbound) document.outbound = JSON.parse(JSON.stringify(seed.outbound));
  for (const node of descendants(seed.root)) {
    const member = node.path.reduce<Json | undefined>(memberOf, document);
    if (!isJsonObject(member) || node.collection !== 'lambdas' || !node.properties) continue;
    delete member.codeFile;
    member.properties = { ...node.properties };
  }
  const placeOf = (pointer: string) => {
    const { line } = source.errorAt(segmentsOf(pointer), '');
    return `${file}:${line}`;
  };
  return { document, placeOf };
}

async function understand(document: SeedDocument, folder: Folder): Promise<Seed> {
  const malformed = pathOfMalformedText(document.content as Json); // as: what is no JSON is refused below
  if (malformed) throw document.errorAt(malformed, MALFORMED_TEXT);
  const location = { collection: 'orgs', name: 'root', parent: null, path: [] } as const;
  const content = withAbsoluteFiles(document.content ?? {}, folder);
  const members = readMembers(document, fileSchema, content, location);
  const {
    format: _,
    $schema: _schema,
    replaceVariables: _replaced,
    scope,
    defaultProviders = true,
    outbound,
    properties,
    entitlements: grants,
    ...record
  } = members;
  const root: SeedNode = { ...location, record: presentMembers(record), properties, grants, children: [] };
  root.children = await readChildren(document, content, root, folder);
  return { defaultProviders, scope: scopeIn(document, root, scope), root, outbound, errorAt: document.errorAt };
}

/** The `file` of an outbound rule is relative to the document. */
function withAbsoluteFiles(content: unknown, folder: Folder): unknown {
  if (folder === undefined || !isJsonObject(content) || !Array.isArray(content.outbound)) return content;
  const outbound = content.outbound.map((rule) =>
    isJsonObject(rule) && typeof rule.file === 'string' ? { ...rule, file: path.resolve(folder, rule.file) } : rule,
  );
  return { ...content, outbound };
}

/** zod types an optional member as possibly undefined, but leaves out what is absent: this is JSON. */
function presentMembers(members: object): JsonObject {
  return members as JsonObject;
}

async function readNode(
  document: SeedDocument,
  value: unknown,
  location: Pick<SeedNode, 'collection' | 'name' | 'parent' | 'path'>,
  folder: Folder,
): Promise<SeedNode> {
  const members = readMembers(document, nodeSchema, value, location);
  const { name = location.name, properties: writtenProperties, entitlements: grants, codeFile, ...record } = members;
  const code =
    codeFile === undefined ? undefined : await codeOf(document, location, codeFile, folder, writtenProperties);
  const located =
    location.collection === 'lambdas' ? withAbsolutePackage(writtenProperties, folder) : writtenProperties;
  const properties = code === undefined ? located : { ...located, code };
  const node: SeedNode = { ...location, name, record: presentMembers(record), properties, grants, children: [] };
  node.children = await readChildren(document, value, node, folder);
  return node;
}

async function readChildren(
  document: SeedDocument,
  value: unknown,
  parent: SeedNode,
  folder: Folder,
): Promise<SeedNode[]> {
  const collections = childWordsOf(parent.collection);
  const children: SeedNode[] = [];
  for (const [key, collection] of Object.entries(isJsonObject(value) ? value : {})) {
    const childCollection = collections.find((candidate) => candidate === key);
    if (!childCollection || collection === null) continue;
    const path = [...parent.path, childCollection];
    if (!isJsonObject(collection))
      throw document.errorAt(path, `expected ${childCollection} by name, such as {my-name: {...}}`);
    const names = new Set<string>();
    for (const [name, body] of Object.entries(collection)) {
      const location = { collection: childCollection, name, parent, path: [...path, name] };
      const node = await readNode(document, body ?? {}, location, folder);
      if (names.has(node.name))
        throw document.errorAt(node.path, `is a duplicate: another of the ${childCollection} is named '${node.name}'`);
      names.add(node.name);
      children.push(node);
    }
  }
  return children;
}

function readMembers<T extends z.ZodObject>(
  document: SeedDocument,
  schema: T,
  value: unknown,
  { collection, path }: Pick<SeedNode, 'collection' | 'path'>,
): z.output<T> {
  const collections: readonly string[] = childWordsOf(collection);
  const ownMembers = isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => !collections.includes(key)))
    : value;
  const result = schema.safeParse(ownMembers, parsingOf(schema));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const validMembers =
      issue.path.length === 0 ? `; valid members: ${[...Object.keys(schema.shape), ...collections].join(', ')}` : '';
    throw document.errorAt([...path, ...issue.path, ...issue.keys.slice(0, 1)], `is not a known member${validMembers}`);
  }
  throw document.errorAt([...path, ...(issue?.path ?? [])], issue?.message ?? 'is not valid');
}

/** The organizations that the document describes completely: its scope, or else those at its top. */
function scopeIn(document: SeedDocument, root: SeedNode, scope: string | undefined): SeedNode[] {
  const childOrganizations = (node: SeedNode) => node.children.filter(({ collection }) => collection === 'orgs');
  if (scope === undefined) return childOrganizations(root);
  const names = segmentsOf(scope);
  const found = names.reduce<SeedNode | undefined>(
    (at, name) => at && childOrganizations(at).find((child) => child.name === name),
    scope.startsWith('/') ? root : undefined,
  );
  if (found) return [found];
  throw document.errorAt(
    ['scope'],
    `must be the path of an organization in this document, such as /demo; not '${scope}'`,
  );
}

/** A path such as `./lambda` or `file:.` in `package_url` is relative to the document. */
function withAbsolutePackage(properties: JsonObject | undefined, folder: Folder): JsonObject | undefined {
  const address = properties?.package_url;
  if (folder === undefined || typeof address !== 'string') return properties;
  const [, relative] = /^(?:file:)?(\.{1,2}(?:[\\/].*)?)$/.exec(address) ?? [];
  if (relative === undefined) return properties;
  return { ...properties, package_url: pathToFileURL(path.resolve(folder, relative)).href };
}

/** A lambda's source as its `code` property has it (D-056). */
async function codeOf(
  document: SeedDocument,
  location: Pick<SeedNode, 'collection' | 'path'>,
  codeFile: string,
  folder: Folder,
  properties: JsonObject = {},
): Promise<string> {
  const where = [...location.path, 'codeFile'];
  if (location.collection !== 'lambdas') throw document.errorAt(where, 'is for lambdas only');
  if ('code' in properties)
    throw document.errorAt(where, 'cannot be combined with properties.code. Set only one of them.');
  if (folder === undefined) {
    const advice = 'codeFile is not available in a document that is sent. Set properties.code instead.';
    throw document.errorAt(where, `the code cannot be read: ${advice}`);
  }
  try {
    return Buffer.from(await readUtf8(path.resolve(folder, codeFile))).toString('base64');
  } catch (cause) {
    throw document.errorAt(where, `the code cannot be read: ${reasonOf(cause)}`, cause);
  }
}
