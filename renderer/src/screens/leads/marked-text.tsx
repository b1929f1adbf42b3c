import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { FoundText } from '../../parts/found-text.tsx';
import { literal } from '../../parts/log-search.ts';

/** A term of a query: what it looks for, without its field and its quotation marks. */
const TERM = /(-?)(?:[a-z]+:)?("(?:[^"\\]|\\.)*"|[^\s"]+)/giy;

/** The texts that a query looks for, in small letters; not those that it does not want. */
export function wantedTexts(query: string): readonly string[] {
  const found = new Set<string>();
  TERM.lastIndex = 0;
  const text = query.trim().replace(/\s+/g, ' ');
  while (TERM.lastIndex < text.length) {
    const [, minus, raw] = TERM.exec(text) ?? [];
    if (raw === undefined) break;
    TERM.lastIndex += 1;
    const wanted = raw.startsWith('"') ? raw.slice(1, -1).replace(/\\(.)/g, '$1') : raw;
    if (minus === '' && wanted !== '') found.add(wanted.toLowerCase());
  }
  return [...found];
}

/** What finds these texts, the longer ones first; undefined for none. */
export function finderOf(wanted: readonly string[]): RegExp | undefined {
  const longestFirst = wanted.toSorted((one, other) => other.length - one.length);
  return wanted.length === 0 ? undefined : new RegExp(longestFirst.map(literal).join('|'), 'gi');
}

const Finder = createContext<RegExp | undefined>(undefined);

/** Within it, `Marked` marks what a query looks for. */
export function MarkWanted({ query, children }: { query: string; children: ReactNode }) {
  const finder = useMemo(() => finderOf(wantedTexts(query)), [query]);
  return <Finder value={finder}>{children}</Finder>;
}

/** A text with what was looked for marked in it. */
export function Marked({ children: text }: { children: string }) {
  return <FoundText text={text} expression={useContext(Finder)} />;
}
