import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HitKind, SearchHit, SearchPart } from '../../api/routes/search.ts';

/** Time to search one source before the next source, and then other requests, have a turn. */
const TURN_MS = 5;
/** How often progress is reported while nothing is found. */
const PROGRESS_MS = 100;
const MAX_WORDS = 20;
const EXCERPT_BEFORE = 20;
const EXCERPT_CHARACTERS = 160;

export interface Entry {
  kind: HitKind;
  /** The texts in which to search, cheap ones first. */
  texts(): Iterable<string>;
  /** The same as the caller may see them, if that is less; they are compared only if the words occur in `texts`. */
  shownTexts?: (() => Iterable<string>) | undefined;
  hit(): Omit<SearchHit, 'kind' | 'excerpt'>;
}

/** Entries of one kind, newest first; undefined for one that the caller may not view. */
export type Source = Iterator<Entry | undefined> | AsyncIterator<Entry | undefined>;

/** The words of a search in lower case; text in quotation marks is one word. */
export function wordsOf(q: string): string[] {
  const words = q.toLowerCase().match(/"[^"]+"|[^\s"]+/g) ?? [];
  return words.slice(0, MAX_WORDS).map((word) => word.replaceAll('"', ''));
}

/** Searches all sources in turns and reports the results found so far. */
export async function* search(
  sources: readonly Source[],
  { words, limit, total }: { words: readonly string[]; limit: number; total: number },
): AsyncGenerator<SearchPart> {
  const left = new Set(words.length === 0 ? [] : sources);
  const found: Partial<Record<HitKind, number>> = {};
  let hits: SearchHit[] = [];
  let searched = 0;
  let reportedMs = performance.now();
  const take = (entry: Entry): void => {
    let text = textWith(words, entry.texts());
    if (text !== undefined && entry.shownTexts) text = textWith(words, entry.shownTexts());
    if (text === undefined) return;
    const count = (found[entry.kind] ?? 0) + 1;
    found[entry.kind] = count;
    if (count <= limit) hits.push({ kind: entry.kind, ...entry.hit(), excerpt: excerptOf(text, words) });
  };
  try {
    while (left.size > 0) {
      for (const source of left) {
        const endMs = performance.now() + TURN_MS;
        do {
          const step = await source.next();
          if (step.done) {
            left.delete(source);
            break;
          }
          searched += 1;
          if (step.value) take(step.value);
        } while (performance.now() < endMs);
        if (hits.length > 0 || performance.now() > reportedMs + PROGRESS_MS) {
          yield { hits, found, searched, total: Math.max(total, searched), isComplete: false };
          hits = [];
          reportedMs = performance.now();
        }
        await nextTurn();
      }
    }
    yield { hits, found, searched, total: searched, isComplete: true };
  } finally {
    for (const source of left) await source.return?.();
  }
}

/** The first text with one of the words, if all of them occur. */
export function textWith(words: readonly string[], texts: Iterable<string>): string | undefined {
  let first: string | undefined;
  let left = words;
  for (const text of texts) {
    const lower = text.toLowerCase();
    const others = left.filter((word) => !lower.includes(word));
    if (others.length < left.length) first ??= text;
    if (others.length === 0) return first;
    left = others;
  }
  return undefined;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...words.map((word) => lower.indexOf(word)).filter((place) => place >= 0)));
  const from = at <= EXCERPT_BEFORE ? 0 : at - EXCERPT_BEFORE;
  const part = text.slice(from, from + EXCERPT_CHARACTERS).replace(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${part}${from + EXCERPT_CHARACTERS < text.length ? '…' : ''}`;
}
