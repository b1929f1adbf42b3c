/** The words that name a type in paths and have records of their own (D-006). */
export const typeWords = [
  'orgs',
  'workspaces',
  'environments',
  'containers',
  'jobs',
  'lambdas',
  'apis',
  'apiendpoints',
  'providers',
  'users',
  'groups',
  'policies',
  'rules',
  'secrets',
  'volumes',
] as const;
export type TypeWord = (typeof typeWords)[number];

/** Words that can be listed (always empty) but are not emulated (D-210). */
export const listedOnlyWords = [
  'datafeeds',
  'streamspecs',
  'appdeployments',
  'licenses',
  'domains',
  'userprofiles',
  'tasks',
  'datacontainers',
] as const;

/** Read-only reference lists (D-006). */
export const referenceWords = [
  'resourcetypes',
  'environmenttypes',
  'datatypes',
  'visibilitytypes',
  'requirementtypes',
  'resourcestates',
] as const;

export function isTypeWord(word: string): word is TypeWord {
  return (typeWords as readonly string[]).includes(word);
}
