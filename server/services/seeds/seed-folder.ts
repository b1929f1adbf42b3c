import { decodeText } from '../../model/decode-text.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { childWordsOf } from './seed-node.ts';
import { yamlOf } from './seed-text.ts';

/** Longest file name made of a lambda's names, in characters. */
const MAX_NAME = 80;

/** `world.yaml`, and lambda code in files below `lambdas/`, named like its place. Returns texts by relative path, with `/`. */
export function seedFolder(document: JsonObject): Map<string, string> {
  const codeFiles = new Map<string, string>();
  const usedNames = new Set<string>();
  const fileFor = (parentNames: readonly string[], runtime: Json | undefined): string => {
    const name = parentNames.map(plain).join('-').slice(-MAX_NAME);
    const extension = /^node/i.test(String(runtime)) ? 'js' : 'txt';
    let file = `lambdas/${name}.${extension}`;
    // Lower case, for disks that do not tell the cases apart.
    for (let more = 2; usedNames.has(file.toLowerCase()); more++) file = `lambdas/${name}-${more}.${extension}`;
    usedNames.add(file.toLowerCase());
    return file;
  };
  const withoutCode = (node: JsonObject, parentNames: readonly string[]): JsonObject => {
    const { code, ...properties } = isJsonObject(node.properties) ? node.properties : {};
    const source = typeof code === 'string' ? decodeText(code) : undefined;
    if (source === undefined || !isText(source)) return node;
    const file = fileFor(parentNames, properties.runtime);
    codeFiles.set(file, source);
    return { ...node, codeFile: file, properties };
  };
  const visit = (node: Json, collection: TypeWord, parentNames: readonly string[]): Json => {
    if (!isJsonObject(node)) return node;
    const childCollections = childWordsOf(collection);
    const members = Object.entries(node).map(([key, value]): [string, Json] => {
      const child = childCollections.find((candidate) => candidate === key);
      if (!child || !isJsonObject(value)) return [key, value];
      const nodes = Object.entries(value).map(
        ([name, childNode]) => [name, visit(childNode, child, [...parentNames, name])] as const,
      );
      return [key, Object.fromEntries(nodes)];
    });
    const visited = Object.fromEntries(members);
    return collection === 'lambdas' ? withoutCode(visited, parentNames) : visited;
  };
  const world = visit(document, 'orgs', []);
  return new Map([['world.yaml', yamlOf(isJsonObject(world) ? world : document)], ...codeFiles]);
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'lambda';
}

function isText(source: string): boolean {
  return new TextDecoder().decode(Buffer.from(source)) === source;
}
