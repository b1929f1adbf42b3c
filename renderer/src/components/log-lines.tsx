import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type Ref, useImperativeHandle, useLayoutEffect, useRef } from 'react';
import { clockText, fullTimeText } from './amounts.ts';
import { FoundText } from './found-text.tsx';
import type { LogExpression } from './log-expression.ts';

/** Distance from the end, in pixels, within which the log follows new lines. */
const END_PX = 24;
const LINE_PX = 19;

export interface ShownLine {
  /** A line keeps its key when older ones are removed. */
  key: number;
  text: string;
  /** When it was printed, as ISO text. */
  at?: string | undefined;
  /** Other content before the line. */
  margin?: ReactNode;
  /** Lines of standard error are highlighted. */
  stream: 'stdout' | 'stderr';
}

export interface LogLinesHandle {
  /** Brings a line into the middle; following ends. */
  show(index: number): void;
}

export interface LogLinesProps {
  lines: readonly ShownLine[];
  expression: LogExpression | undefined;
  markedKey: number | undefined;
  isFollowing: boolean;
  /** The user has scrolled up, or down to the end. */
  onFollowing(isFollowing: boolean): void;
  ref: Ref<LogLinesHandle>;
}

/** The lines of a log; only what is seen is drawn. */
export function LogLines({ lines, expression, markedKey, isFollowing, onFollowing, ref }: LogLinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 20,
    paddingStart: 6,
    paddingEnd: 6,
  });
  const newestKey = lines.at(-1)?.key;
  const height = virtual.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end is somewhere else with each line, and as heights get known
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !isFollowing) return undefined;
    const toEnd = () => {
      element.scrollTop = element.scrollHeight;
      lastTop.current = element.scrollTop;
    };
    toEnd();
    // After a resize, a user who follows still sees the end.
    const observer = new ResizeObserver(toEnd);
    observer.observe(element);
    return () => observer.disconnect();
  }, [newestKey, height, isFollowing]);
  useImperativeHandle(ref, () => ({
    show: (index) => {
      onFollowing(false);
      virtual.scrollToIndex(index, { align: 'center' });
    },
  }));
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const { scrollTop, clientHeight, scrollHeight } = element;
    const isAtEnd = scrollHeight - scrollTop - clientHeight <= END_PX;
    const hasScrolledUp = scrollTop < lastTop.current;
    lastTop.current = scrollTop;
    // Lines that come move the end away; only a person moves up.
    if (isAtEnd && !isFollowing) onFollowing(true);
    else if (hasScrolledUp && !isAtEnd && isFollowing) onFollowing(false);
  };

  return (
    <div
      ref={box}
      role="log"
      aria-label="Log"
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto outline-offset-[-2px] [overflow-anchor:none]"
      onScroll={onScroll}
    >
      <div className="relative" style={{ height }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const line = lines[index];
          if (!line) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={`mono absolute inset-x-0 top-0 flex gap-2.5 border-l-2 py-px pr-3 pl-2.5 ${
                line.stream === 'stderr' ? 'border-error bg-error-soft' : 'border-transparent'
              } ${line.key === markedKey ? 'shadow-[inset_0_0_0_1px_var(--accent)]' : 'hover:bg-raised'}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line line={line} expression={expression} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Line({ line, expression }: { line: ShownLine; expression: LogExpression | undefined }) {
  const { at, stream, text, margin } = line;
  return (
    <>
      {at !== undefined && (
        <time dateTime={at} title={fullTimeText(Date.parse(at))} className="shrink-0 text-faint select-none">
          {clockText(Date.parse(at))}
        </time>
      )}
      {margin}
      {stream === 'stderr' && margin === undefined && (
        <span title="Standard error" className="shrink-0 text-error select-none">
          err
        </span>
      )}
      <span className="min-w-0 flex-1 break-words whitespace-pre-wrap">
        <FoundText text={text} expression={expression} />
      </span>
    </>
  );
}
