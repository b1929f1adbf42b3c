/** The words that name a type in paths and have records of their own (D-006): each type's file adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: only an interface can be added to by the files of the types
export interface TypeWords {}
export type TypeWord = keyof TypeWords;

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

const nounByWord = new Map<string, string>();

/** Of a type that is registered (`registry.ts`). */
export function addTypeWord(word: TypeWord, noun: string): void {
  nounByWord.set(word, noun);
}

export function isTypeWord(word: string): word is TypeWord {
  return nounByWord.has(word);
}

/** Is it what one of a type is called in rights and policies (D-116, D-123)? */
export function isTypeNoun(word: string): boolean {
  return [...nounByWord.values()].includes(word);
}
