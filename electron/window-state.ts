import { readFileSync, writeFileSync } from 'node:fs';
import type { Rectangle } from 'electron';
import { z } from 'zod';

const DEFAULT_SIZE = { width: 1440, height: 900 };
export const MIN_SIZE = { width: 960, height: 600 };
/** So much of the window, in pixels, has to lie on a display, or nobody could take hold of it. */
const MIN_VISIBLE = { width: 160, height: 80 };

const stateSchema = z.object({
  bounds: z.object({ x: z.int(), y: z.int(), width: z.int().positive(), height: z.int().positive() }),
  isMaximized: z.boolean(),
});

/** Where a window was. */
export type WindowState = z.output<typeof stateSchema>;

/** Where the window is to open: where it was, if that is on a display that is still there. */
export function placeWindow(state: WindowState | undefined, workAreas: readonly Rectangle[]): Partial<Rectangle> {
  if (!state) return DEFAULT_SIZE;
  const { x, y, width, height } = state.bounds;
  const area = workAreas.find((one) => overlaps(state.bounds, one));
  const limit = area ?? workAreas[0];
  const size = {
    width: Math.max(MIN_SIZE.width, Math.min(width, limit?.width ?? width)),
    height: Math.max(MIN_SIZE.height, Math.min(height, limit?.height ?? height)),
  };
  // Its upper edge has to be on the display: that is where one takes hold of a window.
  return area ? { x, y: Math.max(y, area.y), ...size } : size;
}

function overlaps(window: Rectangle, area: Rectangle): boolean {
  const width = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  const height = Math.min(window.y + window.height, area.y + area.height) - Math.max(window.y, area.y);
  return width >= MIN_VISIBLE.width && height >= MIN_VISIBLE.height;
}

/** What the file remembers; undefined when it is not there or makes no sense. */
export function readWindowState(file: string): WindowState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Remembers where the window is. A place that cannot be written is a place forgotten, nothing more. */
export function writeWindowState(file: string, state: WindowState): void {
  try {
    writeFileSync(file, JSON.stringify(state));
  } catch {
    // The next window opens where a first one would.
  }
}
