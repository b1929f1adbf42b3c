import { ArrowLeft } from 'lucide-react';
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { prefer, preferences } from '../preferences/preferences.ts';
import { useValue } from '../value-store.ts';
import { Button } from './button.tsx';
import { useWidth } from './use-width.ts';

export interface SplitPaneProps {
  /** Under this name the width is remembered. */
  name: string;
  list: ReactNode;
  /** Undefined: the list has all the space. */
  detail: ReactNode | undefined;
  /** The side that has a fixed width; the other takes the rest. Default: the detail. */
  fixed?: 'list' | 'detail';
  /** Its width in pixels at first. Default 560. */
  width?: number;
  /** The name of the second pane, for screen readers. */
  detailLabel?: string;
  /** Closes the detail: Esc does, and where there is no space for both a button above the detail. */
  onClose?: (() => void) | undefined;
}

/** With less than that for both, the list gives way to the detail. */
const MIN_SPLIT_PX = 720;
/** With less than that, a list that stays with its detail is above it. */
const MIN_BESIDE_PX = 480;

const MIN_PX = 220;
const OTHER_PX = 330;
const STEP_PX = 24;

/** List and detail side by side, with a bar to resize them (also with the arrow keys). */
export function SplitPane({
  name,
  list,
  detail,
  fixed = 'detail',
  width = 560,
  detailLabel = 'Detail',
  onClose,
}: SplitPaneProps) {
  const { splits, isPresenting } = useValue(preferences);
  const savedPx = splits[name];
  const frame = useRef<HTMLDivElement>(null);
  const current = savedPx ?? width;
  const isOpen = detail !== undefined;
  const wholePx = useWidth(frame);
  const isAlone = isOpen && onClose !== undefined && wholePx > 0 && (isPresenting || wholePx < MIN_SPLIT_PX);
  const isStacked = isOpen && onClose === undefined && wholePx > 0 && wholePx < MIN_BESIDE_PX;
  useKeys(isOpen && onClose ? [{ keys: 'Escape', does: 'Close the detail', group: 'Lists', run: onClose }] : []);

  const resize = (next: number) => {
    const totalPx = frame.current?.clientWidth ?? next + MIN_PX;
    const clamped = Math.round(Math.max(MIN_PX, Math.min(next, totalPx - MIN_PX)));
    prefer({ splits: { ...preferences.value.splits, [name]: clamped } });
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || !frame.current) return;
    const box = frame.current.getBoundingClientRect();
    resize(fixed === 'detail' ? box.right - event.clientX : event.clientX - box.left);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowLeft' ? -STEP_PX : event.key === 'ArrowRight' ? STEP_PX : 0;
    if (step === 0) return;
    event.preventDefault();
    resize(current + (fixed === 'detail' ? -step : step));
  };

  // Rows next to a detail get enough space to be distinguished; a list next to an editor takes no more than it needs.
  const ofDetail = `max(45%, min(${current}px, 100% - ${OTHER_PX}px))`;
  const share = fixed === 'detail' ? ofDetail : `min(${current}px, ${savedPx === undefined ? 32 : 75}%)`;
  const columns = fixed === 'detail' ? `minmax(0,1fr) 1px ${share}` : `${share} 1px minmax(0,1fr)`;
  // The list stays at the same position in the tree, so opening a detail does not move its focus or scroll position.
  return (
    <div
      ref={frame}
      className="grid min-h-0 min-w-0 flex-1 grid-rows-[minmax(0,1fr)]"
      style={
        isStacked
          ? { gridTemplateRows: 'minmax(0,2fr) 1px minmax(0,3fr)' }
          : { gridTemplateColumns: isAlone ? '0 0 minmax(0,1fr)' : isOpen ? columns : 'minmax(0,1fr)' }
      }
    >
      <div className={`flex min-h-0 min-w-0 flex-col ${isAlone ? 'invisible' : ''}`}>{list}</div>
      {isOpen && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: an hr cannot be moved */}
          <div
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the panes"
            aria-valuenow={current}
            aria-valuemin={MIN_PX}
            tabIndex={isAlone || isStacked ? -1 : 0}
            className="relative cursor-col-resize bg-line after:absolute after:inset-y-0 after:-left-1 after:z-10 after:w-2.5 hover:bg-accent focus-visible:bg-focus"
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              event.preventDefault();
            }}
            onPointerMove={onPointerMove}
            onDoubleClick={() => resize(width)}
            onKeyDown={onKeyDown}
          />
          <section aria-label={detailLabel} className="flex min-h-0 min-w-0 flex-col overflow-auto bg-panel">
            {isAlone && (
              <div className="border-b border-line p-1.5">
                <Button icon={ArrowLeft} shortcut="Esc" onPress={onClose}>
                  Back to the list
                </Button>
              </div>
            )}
            {detail}
          </section>
        </>
      )}
    </div>
  );
}
