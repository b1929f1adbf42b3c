import path from 'node:path';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { SeedDocument } from './parse-seed-document.ts';
import { readUtf8 } from './seed-document.ts';
import { SeedError } from './seed-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const ENV_FILE = '.env';
/** `${NAME}` or `${NAME:-default}`; `$${` is replaced by `${`. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Replaces the variables in the texts of a file with values from the environment, or else from the `.env` beside the file. The code
 * of lambdas stays as it is, because a template literal in it looks the same.
 *
 * @throws SeedError naming the line of a variable that is not set and has no default
 */
export async function replaceVariables(document: SeedDocument, environment: Environment): Promise<SeedDocument> {
  const content = document.content as Json; // as: what is no JSON is refused by the reader
  if ((isJsonObject(content) && content.replaceVariables === false) || !containsVariables(content)) return document;
  const variables = { ...(await readEnvFile(path.dirname(document.file))), ...environment };
  const replaceIn = (text: string, location: readonly PropertyKey[]) =>
    text.replace(VARIABLE, (written, name: string | undefined, fallback: string | undefined) => {
      if (name === undefined) return written.slice(1);
      if (fallback?.includes('${'))
        throw document.errorAt(location, `the default of ${name} cannot contain a variable.`);
      const value = variables[name];
      if (fallback !== undefined) return value || fallback;
      if (value !== undefined) return value;
      const advice = `Set it in the environment or in ${ENV_FILE} beside the file, or write \${${name}:-default}, or $${written} for the text itself.`;
      throw document.errorAt(location, `the variable ${name} is not set. ${advice}`);
    });
  return { ...document, content: mapTexts(content, replaceIn) };
}

/** True if a text of the document, besides the code of lambdas, would change when its variables are replaced. */
export function containsVariables(content: Json): boolean {
  let isFound = false;
  mapTexts(content, (text) => {
    isFound ||= text.search(VARIABLE) >= 0;
    return text;
  });
  return isFound;
}

/** The variables in the `.env` of a folder; none if there is no such file. */
export async function readEnvFile(folder: string): Promise<Environment> {
  const file = path.join(folder, ENV_FILE);
  try {
    const { parse } = await import('dotenv');
    return parse(await readUtf8(file));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw new SeedError({ file }, `cannot be read: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}

function mapTexts(
  value: Json,
  replace: (text: string, location: readonly PropertyKey[]) => string,
  location: readonly PropertyKey[] = [],
): Json {
  if (typeof value === 'string') return isLambdaCode(location) ? value : replace(value, location);
  if (Array.isArray(value)) return value.map((element, index) => mapTexts(element, replace, [...location, index]));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, replace, [...location, name])]),
  );
}

function isLambdaCode(location: readonly PropertyKey[]): boolean {
  return location.at(-1) === 'code' && location.at(-2) === 'properties' && location.at(-4) === 'lambdas';
}
