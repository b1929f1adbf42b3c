import { type PointerEvent, useRef, useState } from 'react';
import type { FigureState } from '../../../../server/model/figures.ts';
import type { ListFigures } from '../../api/use-figures.ts';
import { type Changes, MAX_MARKS, type StripMark } from '../../api/use-marks.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { clockText, counted, dayText, durationText } from '../amounts.ts';
import { ChartFrame } from '../chart-frame.tsx';
import type { Condition } from '../state.tsx';

/** A state that rows can have, with the part of the query that finds them. */
export interface RowState {
  is: Condition;
  /** After a number, e.g. `failed`. */
  text: string;
  term: string;
  figure: FigureState;
}

export interface TimeStripProps {
  subject: string;
  figures: ListFigures;
  changes: Changes;
  states: readonly RowState[];
  /** A part of the time was drawn over. */
  onBrush(fromMs: number, toMs: number): void;
  /** A bar was pressed: the place of its slowest record. */
  onPick(seq: number): void;
}

const HEIGHT = 48;
/** Space above the bars for the marks. */
const TOP = 7;
/** Minimum height, so that one of thousands is visible. */
const MIN_BAR = 2;
/** A shorter drag is a press. */
const BRUSH_SHARE = 0.01;
const TICKS = [0, 0.25, 0.5, 0.75, 1];
const DAY_MS = 24 * 60 * 60 * 1000;
const COLORS = { ok: 'var(--span-handler)', refused: 'var(--warn)', failed: 'var(--error)' } as const;

/**
 * The number of events over time, by result. Drag over a part of it to show only that part, or press a bar to open its
 * slowest record. Keys can do both as well: times in the query, and sorting by duration.
 */
export function TimeStrip({ subject, figures, changes, states, onBrush, onPick }: TimeStripProps) {
  const { buckets, bucketMs } = figures;
  const [fromMs, toMs] = [Date.parse(figures.from), Date.parse(figures.to)];
  const frame = useRef<HTMLDivElement>(null);
  const [brush, setBrush] = useState<readonly [number, number]>();
  const [hovered, setHovered] = useState<number>();
  const size = ({ ok, refused, failed }: ListFigures['buckets'][number]) => ok + refused + failed;
  const most = roundUp(buckets.reduce((value, bucket) => Math.max(value, size(bucket)), 1));
  const shareAt = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    return box ? Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) : 0;
  };
  const indexAt = (share: number) => Math.min(buckets.length - 1, Math.trunc(share * buckets.length));
  const atOf = (share: number) => fromMs + share * (toMs - fromMs);
  const placeOf = ({ atMs, count }: StripMark) => {
    const share = (atMs - fromMs) / Math.max(1, toMs - fromMs);
    // The number beside a group has the whole part for itself.
    return count === 1 ? share : (Math.trunc(share * MAX_MARKS) + 0.25) / MAX_MARKS;
  };
  const end = (event: PointerEvent) => {
    if (!brush) return;
    setBrush(undefined);
    const [from, to] = [Math.min(brush[0], shareAt(event)), Math.max(brush[0], shareAt(event))];
    if (to - from >= BRUSH_SHARE) {
      onBrush(atOf(from), atOf(to));
      return;
    }
    const slowest = buckets[indexAt(from)]?.slowest;
    if (slowest) onPick(slowest.seq);
  };
  const label = states.map(({ figure, text }) => `${figures[figure].toLocaleString('en')} ${text}`).join(', ');
  const timeText = toMs - fromMs > DAY_MS ? dayText : (atMs: number) => clockText(atMs).slice(0, 8);
  return (
    <div className="relative flex shrink-0 gap-2 border-b border-line px-3.5 pt-1 text-small text-faint [@media(height<560px)]:hidden">
      <div aria-hidden className="relative w-8 shrink-0 text-right" style={{ height: HEIGHT }}>
        <span className="absolute right-0" style={{ top: TOP - 6 }}>
          {most.toLocaleString('en', { notation: 'compact' })}
        </span>
        <span className="absolute right-0 bottom-0 leading-none">0</span>
      </div>
      <div className="relative min-w-0 flex-1">
        <div
          ref={frame}
          className="relative cursor-crosshair touch-none select-none"
          onPointerDown={(event) => {
            if (event.button !== 0 || (event.target as Element).closest('a')) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setBrush([shareAt(event), shareAt(event)]);
          }}
          onPointerMove={(event) => {
            setHovered(indexAt(shareAt(event)));
            if (brush) setBrush([brush[0], shareAt(event)]);
          }}
          onPointerLeave={() => setHovered(undefined)}
          onPointerUp={end}
          onPointerCancel={() => setBrush(undefined)}
        >
          <ChartFrame
            label={`${subject} from ${timeText(fromMs)} to ${timeText(toMs)}: ${label}${figures.slowest ? `, the slowest took ${durationText(figures.slowest.tookMs)}` : ''}; at most ${counted(most, 'record')} in ${durationText(bucketMs)}`}
            width={buckets.length}
            height={HEIGHT}
            ground={0.5}
          >
            <line x1={0} x2={buckets.length} y1={TOP} y2={TOP} stroke="var(--line)" vectorEffect="non-scaling-stroke" />
            {hovered !== undefined && (
              <rect x={hovered} width={1} y={0} height={HEIGHT} fill="var(--accent)" opacity={0.12} />
            )}
            {buckets.map((bucket, index) => {
              let top = HEIGHT;
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: a bucket is its place
                <g key={index}>
                  {states.map(({ figure }) => {
                    if (bucket[figure] === 0) return null;
                    const height = Math.max(MIN_BAR, (bucket[figure] / most) * (HEIGHT - TOP));
                    top -= height;
                    return (
                      <rect key={figure} x={index + 0.1} width={0.8} y={top} height={height} fill={COLORS[figure]} />
                    );
                  })}
                  {/* Not by color alone: a bar with failures has a cap. */}
                  {bucket.failed > 0 && <rect x={index} width={1} y={top - 3} height={1.5} fill="var(--error)" />}
                </g>
              );
            })}
            {brush && (
              <rect
                x={Math.min(...brush) * buckets.length}
                width={Math.abs(brush[1] - brush[0]) * buckets.length}
                y={0}
                height={HEIGHT}
                fill="var(--accent)"
                opacity={0.25}
              />
            )}
          </ChartFrame>
          {changes.marks.map((mark) => (
            <Mark key={mark.id} mark={mark} share={placeOf(mark)} />
          ))}
          {hovered !== undefined && !brush && (
            <HoverCard
              bucket={buckets[hovered]}
              share={(hovered + 0.5) / buckets.length}
              time={`${timeText(fromMs + hovered * bucketMs)} to ${timeText(fromMs + (hovered + 1) * bucketMs)}`}
              states={states}
              changes={changes.marks.filter(({ atMs }) => Math.trunc((atMs - fromMs) / bucketMs) === hovered)}
            />
          )}
        </div>
        <div aria-hidden className="relative h-4 leading-4">
          {TICKS.map((share) => (
            <span
              key={share}
              className={`absolute whitespace-nowrap ${share === 0 ? '' : share === 1 ? '-translate-x-full' : 'hidden -translate-x-1/2 md:inline'}`}
              style={{ left: `${share * 100}%` }}
            >
              {timeText(atOf(share))}
            </span>
          ))}
        </div>
        <p className="hidden truncate leading-4 sm:block">
          {[
            figures.countedFrom !== undefined &&
              `counted since ${timeText(Date.parse(figures.countedFrom))}: this search reads each record`,
            changes.total > 0 && `${changes.isCut ? 'more than ' : ''}${counted(changes.total, 'change')}`,
            'drag over a range to show only that range',
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
      </div>
    </div>
  );
}

/** The next number of one digit with zeros. */
function roundUp(value: number): number {
  const power = 10 ** Math.trunc(Math.log10(value));
  return Math.ceil(value / power) * power;
}

interface HoverCardProps {
  bucket: ListFigures['buckets'][number] | undefined;
  /** Its place, from 0 to 1. */
  share: number;
  time: string;
  states: readonly RowState[];
  changes: readonly StripMark[];
}

/** The details of a bar, shown below the strip so that the pointer never covers them. */
function HoverCard({ bucket, share, time, states, changes }: HoverCardProps) {
  if (!bucket) return null;
  const { slowest, p50Ms, p95Ms } = bucket;
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute top-full z-20 mt-1 w-60 rounded-md border border-line bg-overlay px-2.5 py-1.5 text-small text-text shadow-pop"
      style={{ left: `${share * 100}%`, transform: `translateX(-${share * 100}%)` }}
    >
      <p className="text-muted">{time}</p>
      <p>{states.map(({ figure, text }) => `${bucket[figure].toLocaleString('en')} ${text}`).join(' · ')}</p>
      {slowest && p50Ms !== undefined && p95Ms !== undefined && (
        <p className="text-muted">
          half within {durationText(p50Ms)}, 95 % within {durationText(p95Ms)}, slowest {durationText(slowest.tookMs)}
        </p>
      )}
      {changes.map((mark) => (
        <p key={mark.id} className="break-words text-accent">
          {markText(mark)}
        </p>
      ))}
    </div>
  );
}

function markText({ text, count }: StripMark): string {
  return count === 1 ? text : `${counted(count, 'change')}, the newest: ${text}`;
}

function Mark({ mark, share }: { mark: StripMark; share: number }) {
  const { location, atMs, shape, count } = mark;
  const title = `${clockText(atMs).slice(0, 8)} ${markText(mark)}`;
  return (
    <span className="absolute -top-0.5 h-full w-3 -translate-x-1/2" style={{ left: `${share * 100}%` }} title={title}>
      <span aria-hidden className="absolute inset-y-0 left-1/2 border-l border-dashed border-accent" />
      <span aria-hidden className={`absolute left-1/2 size-1.5 -translate-x-1/2 ${shape}`} />
      {count > 1 && (
        <span
          aria-hidden
          className="absolute top-1 left-1/2 ml-1 rounded-sm bg-panel/85 text-small leading-none text-accent"
        >
          {count.toLocaleString('en', { notation: 'compact' })}
        </span>
      )}
      <PlaceLink to={location} label={title} className="absolute inset-0">
        <span className="sr-only">{title}</span>
      </PlaceLink>
    </span>
  );
}
