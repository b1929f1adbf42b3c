import { createContext, type ReactNode, useContext } from 'react';

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

const Wanted = createContext<readonly string[]>([]);

/** Within it, `Marked` marks what a query looks for. */
export function MarkWanted({ query, children }: { query: string; children: ReactNode }) {
  return <Wanted value={wantedTexts(query)}>{children}</Wanted>;
}

/** A text with what was looked for marked in it. */
export function Marked({ children: text }: { children: string }) {
  const parts = partsOf(text, useContext(Wanted));
  if (!parts.some(({ isWanted }) => isWanted)) return text;
  return parts.map(({ at, part, isWanted }) =>
    isWanted ? (
      <mark key={at} className="rounded-[2px] bg-warn text-bg">
        {part}
      </mark>
    ) : (
      part
    ),
  );
}

export interface TextPart {
  /** Offset in the text. */
  at: number;
  part: string;
  isWanted: boolean;
}

/** A text cut where what is wanted begins and ends; letter case does not matter. */
export function partsOf(text: string, wanted: readonly string[]): TextPart[] {
  const small = text.toLowerCase();
  // In a few languages small letters are more of them: then no place would be right.
  if (wanted.length === 0 || small.length !== text.length) return [{ at: 0, part: text, isWanted: false }];
  const parts: TextPart[] = [];
  let from = 0;
  while (from < text.length) {
    const [next] = wanted
      .map((word) => ({ word, at: small.indexOf(word, from) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at || b.word.length - a.word.length);
    if (!next) break;
    if (next.at > from) parts.push({ at: from, part: text.slice(from, next.at), isWanted: false });
    from = next.at + next.word.length;
    parts.push({ at: next.at, part: text.slice(next.at, from), isWanted: true });
  }
  if (from < text.length || parts.length === 0) parts.push({ at: from, part: text.slice(from), isWanted: false });
  return parts;
}
