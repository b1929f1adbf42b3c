import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { queryTerms } from '../../../../server/model/query-language.ts';
import { FoundText } from '../../components/found-text.tsx';
import { literal } from '../../components/log-expression.ts';

/** The texts that a query looks for, in small letters; not those that it does not want. */
export function wantedTexts(query: string): readonly string[] {
  const termValues = [...queryTerms(query.replace(/\s+/g, ' '))].flatMap((term) =>
    'value' in term && !term.isNegative && term.value !== '' ? [term.value.toLowerCase()] : [],
  );
  return [...new Set(termValues)];
}

/** Returns a pattern that finds these texts, the longer ones first; undefined if there are none. */
export function finderOf(texts: readonly string[]): RegExp | undefined {
  const longestFirst = texts.toSorted((a, b) => b.length - a.length);
  return texts.length === 0 ? undefined : new RegExp(longestFirst.map(literal).join('|'), 'gi');
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
