import type { ResourceType } from './resource-type.ts';
import type { TypeWord } from './type-words.ts';
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

/** The one registry of resource types: the platform is what stands here. */
export const resourceTypes: readonly ResourceType[] = [
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
];

const byWord = new Map<TypeWord, ResourceType>(resourceTypes.map((type) => [type.word, type]));

/** The type of a path word. */
export function typeOfWord(word: TypeWord): ResourceType {
  const type = byWord.get(word);
  if (!type) throw new Error(`no resource type is registered for '${word}'`);
  return type;
}

const byName = new Map<string, ResourceType>(
  resourceTypes.flatMap((type) => fullNamesOf(type).map((name) => [name, type] as const)),
);

/** The type of a stored record, by its full name after the prefix (sub-types included). */
export function typeOf(record: { type: string }): ResourceType {
  const type = byName.get(record.type);
  if (!type) throw new Error(`no resource type is registered under '${record.type}'`);
  return type;
}

/** The full names after the prefix that records of a type may have: its own, and those of its sub-types. */
export function fullNamesOf(type: ResourceType): string[] {
  return [type.name, ...Object.keys(type.subTypes ?? {})];
}
