import { ChevronLeft, ChevronRight, FastForward } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { SnapshotView } from '../../../../server/api/routes/history.ts';
import { Time } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { useCommit } from './use-commits.ts';

export interface TimeLineProps {
  oldest: number;
  newest: number;
  /** The moment that one looks at; undefined: now. */
  at: number | undefined;
  snapshots: readonly SnapshotView[];
  /** Undefined: now. */
  onChange(seq: number | undefined): void;
}

/** While one drags, the page follows at this distance. */
const FOLLOW_MS = 90;
/** Half the width of the slider's thumb: its center stays this far from the ends. */
const THUMB_HALF_PX = 8;

/** The journal as a line: drag, or use the arrows, Page Up and Down, Home and End. Marks are snapshots. */
export function TimeLine({ oldest, newest, at, snapshots, onChange }: TimeLineProps) {
  // The thumb is ahead of the address while it moves.
  const [dragged, setDragged] = useState<number | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const value = Math.min(newest, Math.max(oldest, dragged ?? at ?? newest));
  const commit = useCommit(value > oldest ? value : undefined, newest);
  const first = useCommit(oldest + 1 <= newest ? oldest + 1 : undefined, newest);

  const move = (seq: number, delayMs: number) => {
    setDragged(seq);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      onChange(seq >= newest ? undefined : seq);
      setDragged(undefined);
    }, delayMs);
  };
  const step = (offset: number) => move(Math.min(newest, Math.max(oldest, value + offset)), 0);
  const isNow = value >= newest;
  const description = commit ? commit.sentence : value === 0 ? 'the world as it was created' : '';
  return (
    <section aria-label="Time line" className="shrink-0 border-b border-line bg-panel px-3.5 pt-2 pb-2.5">
      <div className="flex items-center gap-2">
        <IconButton icon={ChevronLeft} label="Previous commit" isDisabled={value <= oldest} onPress={() => step(-1)} />
        <IconButton icon={ChevronRight} label="Next commit" isDisabled={isNow} onPress={() => step(1)} />
        <p className="min-w-0 flex-1 truncate">
          <span className="font-medium">
            {isNow ? 'Now' : value === 0 ? 'At the beginning' : `After commit ${value}`}
          </span>
          <span className="text-muted">
            {commit && (
              <>
                {' · '}
                <Time at={commit.at} as="clock" /> (<Time at={commit.at} />)
              </>
            )}
            {description && ` · ${description}`}
          </span>
        </p>
        <Button icon={FastForward} isDisabled={isNow} onPress={() => move(newest, 0)}>
          Now
        </Button>
      </div>
      <div className="relative mt-1.5">
        <input
          type="range"
          className="block h-6 w-full accent-accent"
          aria-label="Moment"
          aria-valuetext={isNow ? 'now' : `after commit ${value}${description && `, ${description}`}`}
          min={oldest}
          max={Math.max(newest, oldest + 1)}
          step={1}
          value={newest === oldest ? oldest + 1 : value}
          disabled={newest === oldest}
          onChange={({ target }) => move(Number(target.value), FOLLOW_MS)}
        />
        {snapshots
          .filter(({ seq }) => seq >= oldest && seq <= newest && newest > oldest)
          .map(({ name, seq }) => {
            const share = (seq - oldest) / (newest - oldest);
            return (
              <button
                key={name}
                type="button"
                tabIndex={-1}
                title={`Snapshot ${name}, commit ${seq}`}
                aria-label={`Snapshot ${name}`}
                className="absolute top-4 flex h-6 w-6 -translate-x-1/2 items-start justify-center"
                style={{ left: `calc(${THUMB_HALF_PX}px + ${share} * (100% - ${2 * THUMB_HALF_PX}px))` }}
                onClick={() => move(seq, 0)}
              >
                <span className="mt-1 h-2 w-2 rotate-45 border border-panel bg-accent" />
              </button>
            );
          })}
      </div>
      <div className="mt-0.5 flex justify-between text-small text-faint">
        <span>
          {oldest === 0 ? 'beginning' : `commit ${oldest}, the oldest kept`}
          {first && (
            <>
              , <Time at={first.at} />
            </>
          )}
        </span>
        <span>{counted(newest, 'commit')}</span>
      </div>
    </section>
  );
}
