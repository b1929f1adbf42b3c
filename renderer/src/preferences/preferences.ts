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
}

const KEY = 'terrarium.preferences';
const DEFAULTS: Preferences = { theme: 'system', hasLetterKeys: true, isRailNarrow: false, splits: {} };

export const preferences = new ValueStore<Preferences>(read());

/** Changes what is given and keeps it for the next time. */
export function prefer(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.value, ...change });
  try {
    localStorage.setItem(KEY, JSON.stringify(preferences.value));
  } catch {
    // Storage is full or forbidden: the choice holds until the page is closed.
  }
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

function read(): Preferences {
  try {
    return parsePreferences(JSON.parse(localStorage.getItem(KEY) ?? '{}'));
  } catch {
    return DEFAULTS;
  }
}

/** What was stored, with the defaults for what is missing or makes no sense. */
export function parsePreferences(stored: unknown): Preferences {
  if (typeof stored !== 'object' || stored === null) return DEFAULTS;
  const { theme, hasLetterKeys, isRailNarrow, splits } = { ...DEFAULTS, ...stored };
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    hasLetterKeys: hasLetterKeys !== false,
    isRailNarrow: isRailNarrow === true,
    splits: Object.fromEntries(
      Object.entries(typeof splits === 'object' && splits !== null ? splits : {}).filter(
        ([, width]) => typeof width === 'number' && Number.isFinite(width),
      ),
    ),
  };
}
