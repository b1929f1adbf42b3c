import type { ResourceType } from './resource-type.ts';
import { addTypeName } from './type-names.ts';
import { addTypeWord, type TypeWord } from './type-words.ts';
import { api } from './types/api.ts';
import { apiendpoint } from './types/apiendpoint.ts';
import { container } from './types/container.ts';
import { environment } from './types/environment.ts';
import { group } from './types/group.ts';
import { job } from './types/job.ts';
import { lambda } from './types/lambda.ts';
import { organization } from './types/organization.ts';
import { policy } from './types/policy.ts';
import { provider } from './types/provider.ts';
import { rule } from './types/rule.ts';
import { secret } from './types/secret.ts';
import { user } from './types/user.ts';
import { volume } from './types/volume.ts';
import { workspace } from './types/workspace.ts';

const types: ResourceType[] = [];
const words: TypeWord[] = [];
const byWord = new Map<TypeWord, ResourceType>();
const byName = new Map<string, ResourceType>();

/** The one registry of resource types: the platform is what stands here. */
export const resourceTypes: readonly ResourceType[] = types;
/** Their path words. */
export const typeWords: readonly TypeWord[] = words;

/**
 * Makes a type known. What follows from the registry (rows of the contract, masks, places of references ...) is worked out when it
 * is first loaded or looked at: a type of one's own comes before that.
 */
export function register(type: ResourceType): void {
  if (type.id !== undefined) addTypeName(type.name, type.id);
  addTypeWord(type.word, type.noun);
  types.push(type);
  words.push(type.word);
  byWord.set(type.word, type);
  for (const name of fullNamesOf(type)) byName.set(name, type);
}

for (const type of [
  organization,
  workspace,
  environment,
  container,
  job,
  lambda,
  api,
  apiendpoint,
  provider,
  user,
  group,
  policy,
  rule,
  secret,
  volume,
]) {
  register(type);
}

/** All path words, some of them first and in this order. */
export function typeWordsFrom(first: readonly TypeWord[]): TypeWord[] {
  return [...first, ...typeWords.filter((word) => !first.includes(word))];
}

/** The type of a path word. */
export function typeOfWord(word: TypeWord): ResourceType {
  const type = byWord.get(word);
  if (!type) throw new Error(`no resource type is registered for '${word}'`);
  return type;
}

/** The type of a stored record, by its full name after the prefix (sub-types included). */
export function typeOf(record: { type: string }): ResourceType {
  const type = byName.get(record.type);
  if (!type) throw new Error(`no resource type is registered under '${record.type}'`);
  return type;
}

/** The full names after the prefix that records of a type may have: its own, and those of its sub-types. */
export function fullNamesOf(type: ResourceType): string[] {
  return [type.name, ...(type.subTypes ?? [])];
}
