import { ChevronDown, ChevronRight } from 'lucide-react';
import { durationText } from '../../components/amounts.ts';
import { IconButton } from '../../components/button.tsx';
import { useMedia } from '../../components/use-media.ts';
import { preferences } from '../../preferences/preferences.ts';
import { useValue, ValueStore } from '../../value-store.ts';

export interface Span {
  name: string;
  /** After the name, e.g. a host. */
  note?: string;
  startMs: number;
  endMs: number;
  tone: 'gateway' | 'queue' | 'handler' | 'outbound' | 'error';
  depth?: number;
  /** Log lines during the invocation. */
  marks?: readonly { atMs: number; text: string }[];
}

/** The most log lines that are drawn. */
const MAX_MARKS = 200;

const COLOURS: Record<Span['tone'], string> = {
  gateway: 'var(--span-gateway)',
  queue: 'var(--span-queue)',
  handler: 'var(--span-handler)',
  outbound: 'var(--span-outbound)',
  error: 'var(--error)',
};

/** To a tenth of a millisecond, where it was measured so. */
function tenths(ms: number): string {
  return ms < 1000 ? `${Number(ms.toFixed(1))} ms` : durationText(ms);
}

/** Below this height of the window the waterfall is a line until it is opened. */
const LOW = '(height < 800px)';
/** Opened or closed by the user since the window was loaded. */
const chosen = new ValueStore<boolean | undefined>(undefined);

/** When what happened: one line with the outermost parts, or a table whose middle column is drawn. Times are epoch milliseconds. */
export function Waterfall({ spans }: { spans: readonly Span[] }) {
  const isLow = useMedia(LOW);
  const { isPresenting } = useValue(preferences);
  const isOpen = useValue(chosen) ?? !(isLow || isPresenting);
  const firstMs = Math.min(...spans.map(({ startMs }) => startMs));
  const wholeMs = Math.max(1, Math.max(...spans.map(({ endMs }) => endMs)) - firstMs);
  const drawn = { spans, firstMs, wholeMs };
  return (
    <div className="flex items-start gap-1">
      <IconButton
        icon={isOpen ? ChevronDown : ChevronRight}
        label={isOpen ? 'Hide where the time went' : 'Show where the time went'}
        aria-expanded={isOpen}
        onPress={() => chosen.set(!isOpen)}
        className="-ml-2 size-6"
      />
      {isOpen ? <SpanTable {...drawn} /> : <SpanLine {...drawn} />}
    </div>
  );
}

interface DrawnSpans {
  spans: readonly Span[];
  firstMs: number;
  wholeMs: number;
}

/** Returns the start and the width of a span, in percent of the whole. */
function positionOf({ startMs, endMs }: Span, { firstMs, wholeMs }: DrawnSpans) {
  const x = Math.min(99.4, ((startMs - firstMs) / wholeMs) * 100);
  return { x: `${x}%`, width: `${Math.min(100 - x, Math.max(0.6, ((endMs - startMs) / wholeMs) * 100))}%` };
}

/** All spans in one line, inner ones above outer ones. */
function SpanLine(drawn: DrawnSpans) {
  return (
    <p className="flex h-6 min-w-0 flex-1 items-center gap-3">
      <svg aria-hidden width="100%" height={10} className="min-w-0 flex-1">
        {drawn.spans.map((span, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a finished invocation do not change
          <rect key={index} {...positionOf(span, drawn)} height={10} rx={3} fill={COLOURS[span.tone]}>
            <title>{`${span.name}: ${tenths(span.endMs - span.startMs)}`}</title>
          </rect>
        ))}
      </svg>
      <span className="mono shrink-0 text-muted">{tenths(drawn.wholeMs)}</span>
    </p>
  );
}

function SpanTable(drawn: DrawnSpans) {
  const { spans, firstMs: first, wholeMs: totalMs } = drawn;
  return (
    <table className="w-full table-fixed">
      <caption className="sr-only">Timing</caption>
      <colgroup>
        <col className="w-[180px]" />
        <col />
        <col className="w-[68px]" />
      </colgroup>
      <thead>
        <tr className="text-small text-faint">
          <th className="text-left font-normal">Step</th>
          <th className="font-normal">
            <span className="sr-only">Time line</span>
            <span aria-hidden className="@container block">
              <span className="flex justify-between">
                {[0, 0.25, 0.5, 0.75, 1].map((share) => (
                  <span key={share} className={share === 1 ? 'whitespace-nowrap @max-3xs:ml-auto' : '@max-3xs:hidden'}>
                    {share === 0 ? '0' : durationText(totalMs * share)}
                  </span>
                ))}
              </span>
            </span>
          </th>
          <th className="text-right font-normal">Duration</th>
        </tr>
      </thead>
      <tbody>
        {spans.map((span, index) => {
          const { name, note, startMs, endMs, tone, depth = 0, marks = [] } = span;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a finished invocation do not change
            <tr key={index} className="h-[23px]">
              <th scope="row" className="truncate pr-2 text-left font-normal" style={{ paddingLeft: depth * 14 }}>
                <span className="font-medium">{name}</span> <span className="text-muted">{note}</span>
              </th>
              <td>
                <svg aria-hidden width="100%" height={10} className="block overflow-visible">
                  {[25, 50, 75].map((x) => (
                    <line key={x} x1={`${x}%`} x2={`${x}%`} y1={-7} y2={17} stroke="var(--line)" />
                  ))}
                  <rect {...positionOf(span, drawn)} height={10} rx={3} fill={COLOURS[tone]} />
                  {marks.slice(0, MAX_MARKS).map(({ atMs, text }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a finished invocation do not change
                    <g key={at}>
                      <title>{`${tenths(atMs - first)}: ${text}`}</title>
                      <circle
                        cx={`${Math.min(100, ((atMs - first) / totalMs) * 100)}%`}
                        cy={5}
                        r={2.5}
                        fill="var(--panel)"
                        stroke="var(--text)"
                      />
                    </g>
                  ))}
                </svg>
              </td>
              <td className="mono text-right text-muted">{tenths(endMs - startMs)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
