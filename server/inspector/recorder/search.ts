import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HitKind, SearchHit, SearchPart } from '../../api/routes/search.ts';

/** Time to search one source before the next source, and then other requests, have a turn. */
const TURN_MS = 5;
/** Interval of progress reports while nothing is found. */
const PROGRESS_MS = 100;
const MAX_WORDS = 20;
const EXCERPT_BEFORE = 20;
const EXCERPT_CHARACTERS = 160;

export interface Entry {
  kind: HitKind;
  /** The texts in which to search, cheap ones first. */
  texts(): Iterable<string>;
  /** The texts that the caller may see, if they are fewer; they are compared only if the terms occur in `texts`. */
  shownTexts?: (() => Iterable<string>) | undefined;
  hit(): Omit<SearchHit, 'kind' | 'excerpt'>;
}

/** Entries of one kind, newest first; undefined for one that the caller may not view. */
export type Source = Iterator<Entry | undefined> | AsyncIterator<Entry | undefined>;

/** The words of a search in lower case; text in quotation marks is one word. */
export function wordsOf(q: string): string[] {
  const terms = q.toLowerCase().match(/"[^"]+"|[^\s"]+/g) ?? [];
  return terms.slice(0, MAX_WORDS).map((term) => term.replaceAll('"', ''));
}

/** Searches all sources in turns and reports the results found so far. */
export async function* search(
  sources: readonly Source[],
  { terms, limit, total }: { terms: readonly string[]; limit: number; total: number },
): AsyncGenerator<SearchPart> {
  const openSources = new Set(terms.length === 0 ? [] : sources);
  const found: Partial<Record<HitKind, number>> = {};
  let hits: SearchHit[] = [];
  let searched = 0;
  let reportedMs = performance.now();
  const take = (entry: Entry): void => {
    let text = textWith(terms, entry.texts());
    if (text !== undefined && entry.shownTexts) text = textWith(terms, entry.shownTexts());
    if (text === undefined) return;
    const count = (found[entry.kind] ?? 0) + 1;
    found[entry.kind] = count;
    if (count <= limit) hits.push({ kind: entry.kind, ...entry.hit(), excerpt: excerptOf(text, terms) });
  };
  try {
    while (openSources.size > 0) {
      for (const source of openSources) {
        const endMs = performance.now() + TURN_MS;
        do {
          const step = await source.next();
          if (step.done) {
            openSources.delete(source);
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
    for (const source of openSources) await source.return?.();
  }
}

/** The first text with one of the words, if all of them occur. */
export function textWith(terms: readonly string[], texts: Iterable<string>): string | undefined {
  let first: string | undefined;
  let missingTerms = terms;
  for (const text of texts) {
    const lower = text.toLowerCase();
    const stillMissing = missingTerms.filter((term) => !lower.includes(term));
    if (stillMissing.length < missingTerms.length) first ??= text;
    if (stillMissing.length === 0) return first;
    missingTerms = stillMissing;
  }
  return undefined;
}

function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...terms.map((term) => lower.indexOf(term)).filter((index) => index >= 0)));
  const from = at <= EXCERPT_BEFORE ? 0 : at - EXCERPT_BEFORE;
  const part = text.slice(from, from + EXCERPT_CHARACTERS).replace(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${part}${from + EXCERPT_CHARACTERS < text.length ? '…' : ''}`;
}
