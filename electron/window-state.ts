import { readFileSync, writeFileSync } from 'node:fs';
import type { Rectangle } from 'electron';
import { z } from 'zod';

const DEFAULT_SIZE = { width: 1440, height: 900 };
export const MIN_SIZE = { width: 960, height: 600 };
/** Part of the window, in pixels, that must be on a display, so that the user can move it. */
const MIN_VISIBLE = { width: 160, height: 80 };

const stateSchema = z.object({
  bounds: z.object({ x: z.int(), y: z.int(), width: z.int().positive(), height: z.int().positive() }),
  isMaximized: z.boolean(),
});

/** Position and size of a window. */
export type WindowState = z.output<typeof stateSchema>;

/** The bounds for opening the window: the last ones, if they are on a connected display. */
export function placeWindow(state: WindowState | undefined, workAreas: readonly Rectangle[]): Partial<Rectangle> {
  if (!state) return DEFAULT_SIZE;
  const { x, y, width, height } = state.bounds;
  const area = workAreas.find((workArea) => overlaps(state.bounds, workArea));
  const limit = area ?? workAreas[0];
  const size = {
    width: Math.max(MIN_SIZE.width, Math.min(width, limit?.width ?? width)),
    height: Math.max(MIN_SIZE.height, Math.min(height, limit?.height ?? height)),
  };
  // The upper edge must be on the display, because the window is moved there.
  return area ? { x, y: Math.max(y, area.y), ...size } : size;
}

function overlaps(window: Rectangle, area: Rectangle): boolean {
  const width = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  const height = Math.min(window.y + window.height, area.y + area.height) - Math.max(window.y, area.y);
  return width >= MIN_VISIBLE.width && height >= MIN_VISIBLE.height;
}

/** The saved bounds; undefined if the file is missing or not valid. */
export function readWindowState(file: string): WindowState | undefined {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Saves the bounds of the window; ignores a write error. */
export function writeWindowState(file: string, state: WindowState): void {
  try {
    writeFileSync(file, JSON.stringify(state));
  } catch {
    // The next window opens where a first one would.
  }
}
