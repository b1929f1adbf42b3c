import { useState } from 'react';
import { jsonIn } from '../../../server/model/json.ts';
import { bytesText } from './amounts.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';
import { jsonTokens } from './json-tokens.ts';

export interface JsonViewProps {
  /** A value, or a text that may be JSON; other text is shown unchanged. */
  value: unknown;
  /** For the copy button. */
  subject?: string;
}

/** Most characters shown at once; the rest on demand. */
const SHOWN_CHARS = 60_000;

const COLOURS = {
  name: 'text-accent',
  text: 'text-text',
  number: 'text-running',
  word: 'text-warn',
  sign: 'text-faint',
};

/** JSON to read, or any text: always text on the page, never markup. */
export function JsonView({ value, subject = 'JSON' }: JsonViewProps) {
  const [isWhole, setWhole] = useState(false);
  const text = indented(value);
  const visibleText = isWhole ? text : text.slice(0, SHOWN_CHARS);
  return (
    <div className="group relative">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
      <pre tabIndex={0} className="overflow-auto px-4 py-3 break-words whitespace-pre-wrap">
        {isWhole || !isJson(text)
          ? visibleText
          : jsonTokens(visibleText).map(({ kind, text: part, at }) => (
              <span key={at} className={COLOURS[kind]}>
                {part}
              </span>
            ))}
      </pre>
      {visibleText.length < text.length && (
        <div className="px-4 pb-3">
          <Button onPress={() => setWhole(true)}>Show all {bytesText(text.length)}</Button>
        </div>
      )}
      <Copy text={text} subject={subject} className="absolute top-1.5 right-1.5 bg-panel" />
    </div>
  );
}

/** Indents JSON, also JSON in a text; other text stays as it is. */
export function indented(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? '';
  const read = jsonIn(value);
  return read === undefined ? value : JSON.stringify(read, null, 2);
}

const isJson = (text: string) => /^\s*[[{"\d-]/.test(text);
