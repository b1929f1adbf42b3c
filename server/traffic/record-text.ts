import { isSameList } from '../model/same-list.ts';
import type { BodyPlace } from './recorded-bodies.ts';

/*
 * JSON for records, put together piece by piece: for every request twice, which takes a fifth of the time that `JSON.stringify` takes
 * for an object with as many members. What is of few kinds is turned into JSON once.
 */

/** Beyond that many texts, or that many characters, they are not of few kinds. */
const MAX_TEXTS = 1_000;
const MAX_CHARACTERS = 256;
const MICROSECONDS = 1_000;

const texts = new Map<string, string>();

/** A text, `null` for none. Of those that come again and again the JSON is kept. */
export function jsonOf(text: string | undefined): string {
  if (text === undefined) return 'null';
  const known = texts.get(text);
  if (known !== undefined) return known;
  const json = JSON.stringify(text);
  if (text.length > MAX_CHARACTERS) return json;
  if (texts.size >= MAX_TEXTS) texts.clear();
  texts.set(text, json);
  return json;
}

/** An id that the platform made; `null` for none. */
export function jsonOfId(id: string | undefined): string {
  return id === undefined ? 'null' : `"${id}"`;
}

export function jsonOfPlace(place: BodyPlace | undefined): string {
  if (!place) return 'null';
  const [at, keptBytes, sizeBytes, isWhole] = place;
  return `[${at},${keptBytes},${sizeBytes}${isWhole ? ',1' : ''}]`;
}

/** Whole microseconds of a duration: a number with all its digits takes longer to write than all others together. */
export function microsOf(ms: number): number {
  return Math.round(ms * MICROSECONDS);
}

export function msOf(micros: number): number {
  return micros / MICROSECONDS;
}

/** JSON of lists of texts, most of which are the same as the one before, as they are kept. */
export class SameLists {
  readonly #kept: (list: readonly string[]) => readonly string[];
  #last: readonly string[] = [];
  #json = '[]';

  constructor(kept: (list: readonly string[]) => readonly string[]) {
    this.#kept = kept;
  }

  jsonOf(list: readonly string[]): string {
    if (isSameList(list, this.#last)) return this.#json;
    this.#last = list;
    this.#json = JSON.stringify(this.#kept(list));
    return this.#json;
  }
}
