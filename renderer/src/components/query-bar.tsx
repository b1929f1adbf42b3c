import { CircleX, Search, X } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { QueryFault } from '../../../server/model/query-language.ts';
import { useKeys } from '../keys/use-keys.ts';
import { useSearch } from '../url.ts';
import { IconButton, Key } from './button.tsx';

export interface QueryBarProps {
  subject: string;
  read(text: string, nowMs: number): { ok: true } | { ok: false; fault: QueryFault };
  /** An example, e.g. `status:error lambda:webform dur:>200`. */
  example?: string;
  /** Words that can be put in with a click. */
  suggestions?: readonly string[];
}

const PAUSE_MS = 250;

/**
 * The query of a list, in the address as `q`. `/` moves the focus here, Enter applies the query at once, Esc empties it. An invalid query
 * is not applied: the list keeps the last valid one, and the bar shows the error and its position.
 */
export function QueryBar({ subject, read, example, suggestions = [] }: QueryBarProps) {
  const [{ q = '' }, change] = useSearch();
  const [text, setText] = useState(q);
  const input = useRef<HTMLInputElement>(null);
  const noteId = useId();
  const query = text.trim() === '' ? undefined : read(text, Date.now());
  const fault = query?.ok === false ? query.fault : undefined;

  // The address was changed from elsewhere: a link, the back button.
  const appliedQuery = useRef(q);
  useEffect(() => {
    if (q !== appliedQuery.current) {
      appliedQuery.current = q;
      setText(q);
    }
  }, [q]);

  const take = (next: string) => {
    appliedQuery.current = next.trim();
    change({ q: next.trim() || undefined });
  };
  useEffect(() => {
    if (fault) return undefined;
    const timer = setTimeout(() => {
      // Enter or Escape may have been quicker.
      if (text.trim() === appliedQuery.current) return;
      appliedQuery.current = text.trim();
      change({ q: text.trim() || undefined });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, fault, change]);

  useKeys([{ keys: '/', does: 'Query', group: 'Lists', run: () => input.current?.select() }]);
  const empty = () => {
    setText('');
    take('');
  };
  const add = (term: string) => {
    setText(text.trim() === '' ? term : `${text.trim()} ${term}`);
    input.current?.focus();
  };

  return (
    <search className="group relative min-w-0 flex-1">
      <div className="field-frame flex items-center" {...(fault && { 'data-invalid': true })}>
        <Search aria-hidden size={13} className="ml-2 shrink-0 text-faint" />
        <input
          ref={input}
          type="text"
          value={text}
          spellCheck={false}
          autoComplete="off"
          aria-label={`Query of ${subject}`}
          aria-invalid={fault !== undefined}
          aria-describedby={fault ? noteId : undefined}
          placeholder={example ? `Find ${subject}: ${example}` : `Find ${subject}`}
          className="mono min-w-0 flex-1 bg-transparent px-2 py-1"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !fault) take(text);
            if (event.key !== 'Escape') return;
            if (text === '') input.current?.blur();
            else empty();
          }}
        />
        {text === '' ? (
          <span className="mr-1.5">
            <Key>/</Key>
          </span>
        ) : (
          <IconButton icon={X} label="Clear the query" onPress={empty} className="size-6" />
        )}
      </div>
      {fault && (
        <div
          id={noteId}
          role="alert"
          className="absolute inset-x-0 top-full z-20 mt-1 rounded-md border border-error/40 bg-overlay px-3 py-2 shadow-pop"
        >
          <p className="flex items-center gap-1.5 text-error">
            <CircleX aria-hidden size={13} className="shrink-0" /> {fault.message}
          </p>
          <pre className="mt-1 overflow-hidden">
            {text}
            {'\n'}
            <span className="text-error">{`${' '.repeat(Math.max(0, fault.at))}^`}</span>
          </pre>
        </div>
      )}
      {!fault && suggestions.length > 0 && text === '' && (
        <div className="absolute inset-x-0 top-full z-20 mt-1 hidden gap-1.5 rounded-md border border-line bg-overlay p-2 shadow-pop group-focus-within:flex">
          {suggestions.map((suggestion) => (
            <button
              key={suggestion}
              type="button"
              className="mono min-h-6 rounded border border-line-strong px-1.5 text-muted hover:text-text"
              onClick={() => add(suggestion)}
            >
              {suggestion}
            </button>
          ))}
        </div>
      )}
    </search>
  );
}
