import { jsonIn } from '../../../server/model/json.ts';
import { storedText, storeText } from '../stored-text.ts';
import { ValueStore } from '../value-store.ts';

export type Theme = 'system' | 'light' | 'dark';

export interface Preferences {
  theme: Theme;
  /** True if single letters (`p`, `r`, `g h` ...) work as keys. */
  hasLetterKeys: boolean;
  isRailNarrow: boolean;
  /** Widths of split panes in pixels, by their name. */
  splits: Readonly<Record<string, number>>;
  /** Hidden columns, by the name of their list. */
  hiddenColumns: Readonly<Record<string, readonly string[]>>;
  views: Readonly<Record<string, readonly SavedView[]>>;
  /** First steps that were done in this browser, and `hidden` when they are not wanted. */
  steps: readonly string[];
  /** True in presenter mode, in which everything is large. */
  isPresenting: boolean;
  /** True if terminals announce their output to a screen reader. */
  isTerminalAnnounced: boolean;
  /** Is code shown before it is saved, even if that can be undone? */
  isSaveReviewed: boolean;
}

export interface SavedView {
  name: string;
  search: Readonly<Record<string, string>>;
}

const KEY = 'terrarium.preferences';
const DEFAULTS: Preferences = {
  theme: 'system',
  hasLetterKeys: true,
  isRailNarrow: false,
  splits: {},
  hiddenColumns: {},
  views: {},
  steps: [],
  isPresenting: false,
  isTerminalAnnounced: false,
  isSaveReviewed: false,
};

export const preferences = new ValueStore(parsePreferences(jsonIn(storedText(KEY) ?? '')));

export function prefer(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.value, ...change });
  storeText(KEY, JSON.stringify(preferences.value));
}

/** A first step that Home asks for. */
export type FirstStep = 'browse' | 'undo' | 'own-form';

export function noteStep(step: FirstStep | 'hidden'): void {
  const { steps } = preferences.value;
  if (!steps.includes(step)) prefer({ steps: [...steps, step] });
}

/** Applies the theme to the page. Call it once, before the first render. */
export function followTheme(): void {
  const apply = () => {
    const { theme } = preferences.value;
    if (theme === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', theme);
  };
  preferences.watch(apply);
  apply();
}

/** The stored preferences, with defaults for missing and invalid ones. */
export function parsePreferences(stored: unknown): Preferences {
  if (typeof stored !== 'object' || stored === null) return DEFAULTS;
  const { theme, hasLetterKeys, isRailNarrow, splits, hiddenColumns, views, steps, ...switches } = {
    ...DEFAULTS,
    ...stored,
  };
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    hasLetterKeys: hasLetterKeys !== false,
    isRailNarrow: isRailNarrow === true,
    splits: entriesOf(splits, (width) => typeof width === 'number' && Number.isFinite(width)),
    hiddenColumns: entriesOf(hiddenColumns, (ids) => Array.isArray(ids) && ids.every((id) => typeof id === 'string')),
    views: entriesOf(views, (saved) => Array.isArray(saved) && saved.every(isView)),
    steps: Array.isArray(steps) ? steps.filter((step) => typeof step === 'string') : [],
    isPresenting: switches.isPresenting === true,
    isTerminalAnnounced: switches.isTerminalAnnounced === true,
    isSaveReviewed: switches.isSaveReviewed === true,
  };
}

function entriesOf<T>(stored: Readonly<Record<string, T>>, makesSense: (value: unknown) => boolean): Record<string, T> {
  const entries = Object.entries(typeof stored === 'object' && stored !== null ? stored : {});
  return Object.fromEntries(entries.filter(([, value]) => makesSense(value)));
}

function isView(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return false;
  const { name, search } = stored as Partial<SavedView>; // each is looked at
  return (
    typeof name === 'string' &&
    typeof search === 'object' &&
    search !== null &&
    Object.values(search).every((value) => typeof value === 'string')
  );
}
