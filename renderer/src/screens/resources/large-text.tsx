import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { Copy } from '../../parts/copy.tsx';

const LINE_HEIGHT = 19;
/** What a line shows at most: one may hold megabytes, and a browser lays out every letter of it. */
const MAX_LINE_CHARS = 1000;

/** A text of any size to read: only the lines in sight are drawn, very long ones are cut. */
export function LargeText({ text, label, note }: { text: string; label: string; note: string }) {
  const scroller = useRef<HTMLElement>(null);
  const lines = useMemo(() => text.split('\n'), [text]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex items-center gap-2 border-b border-line bg-raised px-4 py-2" role="note">
        <p className="flex-1">{note}</p>
        <Copy text={text} what="the whole JSON" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
      <section ref={scroller} tabIndex={0} aria-label={label} className="mono min-h-0 flex-1 overflow-auto p-3">
        <div className="relative min-w-fit" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index] ?? '';
            const cut = line.length - MAX_LINE_CHARS;
            return (
              <div
                key={index}
                className="absolute top-0 left-0 flex whitespace-pre"
                style={{ height: LINE_HEIGHT, transform: `translateY(${start}px)` }}
              >
                <span className="w-14 shrink-0 pr-3 text-right text-faint select-none">{index + 1}</span>
                {cut > 0 ? line.slice(0, MAX_LINE_CHARS) : line}
                {cut > 0 && <span className="ml-2 text-muted">… {cut.toLocaleString('en')} more characters</span>}
              </div>
            );
          })}
        </div>
      </section>
    </div>
  );
}
