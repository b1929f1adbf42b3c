/** The plural names of types with records (D-006). */
export type TypeWord =
  | 'orgs'
  | 'workspaces'
  | 'environments'
  | 'containers'
  | 'jobs'
  | 'lambdas'
  | 'apis'
  | 'apiendpoints'
  | 'providers'
  | 'users'
  | 'groups'
  | 'policies'
  | 'rules'
  | 'secrets'
  | 'volumes';

/** Plural names that can be listed (always empty) but are not emulated (D-210). */
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

const nounByWord = new Map<string, string>();

export function addTypeWord(collection: TypeWord, singular: string): void {
  nounByWord.set(collection, singular);
}

export function isTypeWord(name: string): name is TypeWord {
  return nounByWord.has(name);
}

/** True if the word is the singular name of a type in permissions and policies (D-116, D-123). */
export function isTypeNoun(noun: string): boolean {
  return [...nounByWord.values()].includes(noun);
}
