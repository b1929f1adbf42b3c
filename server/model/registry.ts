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
const collections: TypeWord[] = [];
const byWord = new Map<TypeWord, ResourceType>();
const byName = new Map<string, ResourceType>();

export const resourceTypes: readonly ResourceType[] = types;
export const typeWords: readonly TypeWord[] = collections;

/** Register additional types before the first use of data that is derived from the registry (routes, masks, references ...). */
export function register(type: ResourceType): void {
  if (type.id !== undefined) addTypeName(type.name, type.id);
  addTypeWord(type.collection, type.singular);
  types.push(type);
  collections.push(type.collection);
  byWord.set(type.collection, type);
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

export function typeWordsFrom(first: readonly TypeWord[]): TypeWord[] {
  return [...first, ...typeWords.filter((collection) => !first.includes(collection))];
}

export function typeOfWord(collection: TypeWord): ResourceType {
  const type = byWord.get(collection);
  if (!type) throw new Error(`resource type '${collection}' is not registered`);
  return type;
}

/** The type of a stored record, by its full name without the prefix (including sub-types). */
export function typeOf(record: { type: string }): ResourceType {
  const type = byName.get(record.type);
  if (!type) throw new Error(`resource type '${record.type}' is not registered`);
  return type;
}

export function fullNamesOf(type: ResourceType): string[] {
  return [type.name, ...(type.subTypes ?? [])];
}
