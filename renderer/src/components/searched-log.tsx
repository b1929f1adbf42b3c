import { ArrowDownToLine, ChevronDown, ChevronUp, Regex } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { ToggleButton } from 'react-aria-components';
import { useSearch } from '../url.ts';
import { counted } from './amounts.ts';
import { Button, IconButton } from './button.tsx';
import { FilterField } from './fields.tsx';
import { Hint } from './hint.tsx';
import { findIn } from './log-expression.ts';
import { LogLines, type LogLinesHandle, type ShownLine } from './log-lines.tsx';
import { logSearch } from './log-search.ts';

const NOTHING_FOUND = { count: 0, lines: [] };

export interface SearchedLogProps {
  /** Oldest first. */
  lines: readonly ShownLine[];
  empty: ReactNode;
  notices?: ReactNode;
}

/**
 * A log that follows until one scrolls up; a search marks and counts and hides nothing. The search is in the address: `find`, and
 * `regex=1`.
 */
export function SearchedLog({ lines, empty, notices }: SearchedLogProps) {
  const [{ find = '', regex }, change] = useSearch();
  const isRegex = regex === '1';
  const search = useMemo(() => logSearch(find, isRegex), [find, isRegex]);
  const expression = search && 'expression' in search ? search.expression : undefined;
  const found = useMemo(() => (expression ? findIn(lines, expression) : NOTHING_FOUND), [lines, expression]);
  const printed = useMemo(() => lines.reduce((sum, { text }) => sum + text.split('\n').length, 0), [lines]);
  const list = useRef<LogLinesHandle>(null);
  const [isFollowing, setFollowing] = useState(true);
  // Key of the selected line: lines move up as old ones are removed.
  const [goneTo, setGoneTo] = useState<number>();
  const matchIndex = goneTo === undefined ? -1 : found.lines.findIndex((index) => lines[index]?.key === goneTo);

  const step = (direction: 1 | -1) => {
    const { length } = found.lines;
    if (length === 0) return;
    // The first step leads to the newest.
    const next = matchIndex < 0 ? length - 1 : (matchIndex + direction + length) % length;
    const index = found.lines[next] ?? 0;
    setGoneTo(lines[index]?.key);
    list.current?.show(index);
  };

  return (
    <div className="relative flex h-full min-h-0 flex-1 flex-col">
      <div className="flex shrink-0 items-center gap-1.5 border-b border-line px-3 py-1.5">
        <FilterField
          label="Search the log"
          placeholder={isRegex ? 'Search with a regular expression' : 'Search the log'}
          value={find}
          onChange={(next) => change({ find: next || undefined })}
          onKeyDown={(event) => event.key === 'Enter' && step(event.shiftKey ? 1 : -1)}
          className="min-w-24 flex-1"
        />
        <Hint text="Regular expression">
          <ToggleButton
            aria-label="Regular expression"
            isSelected={isRegex}
            onChange={(on) => change({ regex: on ? '1' : undefined })}
            className="inline-flex size-7 shrink-0 items-center justify-center rounded-md border border-transparent text-muted data-[hovered]:bg-raised data-[selected]:border-accent data-[selected]:bg-accent-soft data-[selected]:text-accent"
          >
            <Regex aria-hidden size={15} />
          </ToggleButton>
        </Hint>
        <IconButton
          icon={ChevronUp}
          label="Earlier line that matches"
          shortcut="Enter"
          isDisabled={found.count === 0}
          onPress={() => step(-1)}
        />
        <IconButton
          icon={ChevronDown}
          label="Later line that matches"
          shortcut="Shift+Enter"
          isDisabled={found.count === 0}
          onPress={() => step(1)}
        />
        <span role="status" className="min-w-16 shrink-0 text-right whitespace-nowrap text-muted">
          {find === '' ? counted(printed, 'line') : counted(found.count, 'match', 'matches')}
        </span>
      </div>
      {search && 'fault' in search && (
        <p role="alert" className="border-b border-line bg-error-soft px-3 py-1 text-small text-error">
          {search.fault}
        </p>
      )}
      {notices}
      {lines.length === 0 ? (
        <p className="px-4 py-3 text-muted">{empty}</p>
      ) : (
        <LogLines
          ref={list}
          lines={lines}
          expression={expression}
          markedKey={goneTo}
          isFollowing={isFollowing}
          onFollowing={setFollowing}
        />
      )}
      {!isFollowing && lines.length > 0 && (
        <Button
          icon={ArrowDownToLine}
          look="primary"
          className="absolute right-5 bottom-4 shadow-pop"
          onPress={() => setFollowing(true)}
        >
          Jump to newest
        </Button>
      )}
    </div>
  );
}
