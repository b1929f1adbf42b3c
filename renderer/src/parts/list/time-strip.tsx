import { type PointerEvent, useMemo, useRef, useState } from 'react';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { Place } from '../../url.ts';
import { clockText, counted, durationText } from '../amounts.ts';
import { ChartFrame } from '../chart-frame.tsx';
import { heightShare, type StripPoint, slotsOf } from './strip-slots.ts';

/** Something that happened at a moment and may explain what is below it: a commit, a deployment. */
export interface StripMark {
  id: string;
  atMs: number;
  /** Each has a shape of its own. */
  kind: 'commit' | 'rules' | 'engine' | 'deploy';
  /** What happened, in words. */
  text: string;
  place?: Place;
}

export interface TimeStripProps {
  /** What the rows are, e.g. `invocations`. */
  what: string;
  points: readonly StripPoint[];
  marks: readonly StripMark[];
  fromMs: number;
  toMs: number;
  /** A part of the time was drawn over. */
  onBrush(fromMs: number, toMs: number): void;
  /** The one that took longest of a slot was pressed. */
  onPick(key: string): void;
}

const SLOTS = 120;
const HEIGHT = 34;
/** Shorter than that is a press. */
const BRUSH_SHARE = 0.01;

/**
 * How long things took and what failed, over time. One draws over a part of it to see that part only, and presses a bar to see the
 * slowest below it. All of it can be had by keys, too: times in the query, the slowest by sorting.
 */
export function TimeStrip({ what, points, marks, fromMs, toMs, onBrush, onPick }: TimeStripProps) {
  const slots = useMemo(() => slotsOf(points, fromMs, toMs, SLOTS), [points, fromMs, toMs]);
  const frame = useRef<HTMLDivElement>(null);
  const [brush, setBrush] = useState<readonly [number, number]>();
  const hasTimes = points.some(({ tookMs }) => tookMs !== undefined);
  const amountOf = (slot: (typeof slots)[number]) => (hasTimes ? (slot.slowest?.tookMs ?? 0) : slot.count);
  const most = slots.reduce((value, slot) => Math.max(value, amountOf(slot)), 0);
  const failed = slots.reduce((sum, slot) => sum + slot.failed, 0);
  const count = slots.reduce((sum, slot) => sum + slot.count, 0);
  const shareAt = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    return box ? Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) : 0;
  };
  const atOf = (share: number) => fromMs + share * (toMs - fromMs);
  const end = (event: PointerEvent) => {
    if (!brush) return;
    setBrush(undefined);
    const [from, to] = [Math.min(brush[0], shareAt(event)), Math.max(brush[0], shareAt(event))];
    if (to - from >= BRUSH_SHARE) {
      onBrush(atOf(from), atOf(to));
      return;
    }
    const slowest = slots[Math.min(SLOTS - 1, Math.floor(from * SLOTS))]?.slowest;
    if (slowest) onPick(slowest.key);
  };
  const inView = marks.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  return (
    <div className="relative shrink-0 border-b border-line px-3.5 pt-1 text-[11px] text-faint [@media(height<560px)]:hidden">
      <div
        ref={frame}
        className="relative cursor-crosshair touch-none select-none"
        onPointerDown={(event) => {
          if (event.button !== 0 || (event.target as Element).closest('a')) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setBrush([shareAt(event), shareAt(event)]);
        }}
        onPointerMove={(event) => brush && setBrush([brush[0], shareAt(event)])}
        onPointerUp={end}
        onPointerCancel={() => setBrush(undefined)}
      >
        <ChartFrame
          label={`${what} from ${clockText(fromMs)} to ${clockText(toMs)}: ${count}, ${failed} of them failed${hasTimes ? `, the slowest took ${durationText(most)}` : ''}`}
          width={SLOTS}
          height={HEIGHT}
          ground={0.5}
        >
          {slots.map((slot, index) => {
            if (slot.count === 0) return null;
            const height = Math.max(2, heightShare(amountOf(slot), most) * (HEIGHT - 8));
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a slot is its place
              <g key={index}>
                <rect
                  x={index + 0.1}
                  width={0.8}
                  y={HEIGHT - height}
                  height={height}
                  fill={slot.failed > 0 ? 'var(--error)' : 'var(--span-handler)'}
                />
                {/* Not by colour alone: what failed has a cap. */}
                {slot.failed > 0 && <rect x={index} width={1} y={HEIGHT - height - 4} height={2} fill="var(--error)" />}
              </g>
            );
          })}
          {brush && (
            <rect
              x={Math.min(...brush) * SLOTS}
              width={Math.abs(brush[1] - brush[0]) * SLOTS}
              y={0}
              height={HEIGHT}
              fill="var(--accent)"
              opacity={0.25}
            />
          )}
        </ChartFrame>
        {inView.map((mark) => (
          <Mark key={mark.id} mark={mark} share={(mark.atMs - fromMs) / Math.max(1, toMs - fromMs)} />
        ))}
      </div>
      <div className="flex justify-between leading-4">
        <span>{clockText(fromMs).slice(0, 8)}</span>
        <span className="hidden sm:block">
          {[
            hasTimes && `slowest ${durationText(most)}`,
            inView.length > 0 && counted(inView.length, 'change'),
            'draw over a part to see only that',
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
        <span>{clockText(toMs).slice(0, 8)}</span>
      </div>
    </div>
  );
}

/** What a mark looks like: not by colour alone. */
const SHAPES: Readonly<Record<StripMark['kind'], string>> = {
  commit: 'rotate-45 bg-accent',
  rules: 'rounded-full bg-warn',
  engine: 'bg-text',
  deploy: 'rotate-45 border border-accent bg-panel',
};

function Mark({ mark: { text, place, atMs, kind }, share }: { mark: StripMark; share: number }) {
  const title = `${clockText(atMs).slice(0, 8)} ${text}`;
  return (
    <span className="absolute -top-0.5 h-full w-3 -translate-x-1/2" style={{ left: `${share * 100}%` }} title={title}>
      <span aria-hidden className="absolute inset-y-0 left-1/2 border-l border-dashed border-accent" />
      <span aria-hidden className={`absolute left-1/2 size-1.5 -translate-x-1/2 ${SHAPES[kind]}`} />
      {place && (
        <PlaceLink to={place} label={title} className="absolute inset-0">
          <span className="sr-only">{title}</span>
        </PlaceLink>
      )}
    </span>
  );
}
