import { jsonIn } from '../../../server/model/json.ts';
import { storedText, storeText } from '../browser-storage.ts';
import { ValueStore } from '../value-store.ts';

export type Theme = 'system' | 'light' | 'dark';

/** What one person has chosen in this browser. */
export interface Preferences {
  theme: Theme;
  /** Do single letters (`p`, `r`, `g h` ...) do anything? */
  hasLetterKeys: boolean;
  isRailNarrow: boolean;
  /** Widths of split panes in pixels, by their name. */
  splits: Readonly<Record<string, number>>;
  /** Columns that are not to be seen, by the name of their list. */
  hiddenColumns: Readonly<Record<string, readonly string[]>>;
  /** What lists were narrowed to and kept under a name, by the name of the list. */
  views: Readonly<Record<string, readonly SavedView[]>>;
  /** Requests to public endpoints that were kept, by their name. */
  requests: Readonly<Record<string, SavedRequest>>;
  /** Is everything large, for those who look on from afar? */
  isPresenting: boolean;
  /** Do terminals tell a screen reader what they print? */
  isTerminalTold: boolean;
}

/** A request as it was written. */
export interface SavedRequest {
  method: string;
  path: string;
  /** `Name: value`, one a line. */
  headers: string;
  body: string;
  asMe: boolean;
  /** Id of the user as whom root sends it. */
  as?: string | undefined;
}

/** What a list was narrowed to and sorted by, as words of its address. */
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
  requests: {},
  isPresenting: false,
  isTerminalTold: false,
};

export const preferences = new ValueStore(parsePreferences(jsonIn(storedText(KEY) ?? '')));

/** Changes what is given and keeps it for the next time. */
export function prefer(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.value, ...change });
  storeText(KEY, JSON.stringify(preferences.value));
}

/** Puts the theme on the page; to be called once, before the first picture. */
export function followTheme(): void {
  const apply = () => {
    const { theme } = preferences.value;
    if (theme === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.setAttribute('data-theme', theme);
  };
  preferences.watch(apply);
  apply();
}

/** What was stored, with the defaults for what is missing or makes no sense. */
export function parsePreferences(stored: unknown): Preferences {
  if (typeof stored !== 'object' || stored === null) return DEFAULTS;
  const { theme, hasLetterKeys, isRailNarrow, splits, hiddenColumns, views, requests, isPresenting, isTerminalTold } = {
    ...DEFAULTS,
    ...stored,
  };
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    hasLetterKeys: hasLetterKeys !== false,
    isRailNarrow: isRailNarrow === true,
    splits: entriesOf(splits, (width) => typeof width === 'number' && Number.isFinite(width)),
    hiddenColumns: entriesOf(hiddenColumns, (ids) => Array.isArray(ids) && ids.every((id) => typeof id === 'string')),
    views: entriesOf(views, (some) => Array.isArray(some) && some.every(isView)),
    requests: entriesOf(requests, isRequest),
    isPresenting: isPresenting === true,
    isTerminalTold: isTerminalTold === true,
  };
}

/** The entries of what should be an object whose values make sense. */
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
    Object.values(search).every((word) => typeof word === 'string')
  );
}

function isRequest(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return false;
  const { method, path, headers, body, asMe, as = '' } = stored as Partial<SavedRequest>; // each is looked at
  return [method, path, headers, body, as].every((text) => typeof text === 'string') && typeof asMe === 'boolean';
}
