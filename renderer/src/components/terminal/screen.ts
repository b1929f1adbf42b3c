import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { themeOf } from './colours.ts';
import { withoutStyleElements } from './rule-holders.ts';

/** Below that there is nothing to read, as while the terminal is out of sight. */
const LEAST_PX = 40;
const LINES_KEPT = 5_000;

export interface ScreenOptions {
  /** In the page already. It is filled. */
  host: HTMLElement;
  isAnnounced: boolean;
  onTyped(bytes: Uint8Array<ArrayBuffer>): void;
  onSize(size: { columns: number; rows: number }): void;
}

/** Opens the screen of a terminal. It is a separate bundle, loaded when a terminal is opened. */
export function openScreen({ host, isAnnounced, onTyped, onSize }: ScreenOptions) {
  const terminal = new Terminal({
    screenReaderMode: isAnnounced,
    scrollback: LINES_KEPT,
    fontFamily: getComputedStyle(host).getPropertyValue('--mono'),
    fontSize: 12,
    lineHeight: 1.2,
    minimumContrastRatio: 4.5,
    theme: themeOf(host),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  withoutStyleElements(() => terminal.open(host));
  terminal.attachCustomKeyEventHandler((event) => isForShell(event, terminal));
  const encoder = new TextEncoder();
  terminal.onData((text) => onTyped(encoder.encode(text)));
  terminal.onBinary((text) => onTyped(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  terminal.onResize(({ cols, rows }) => onSize({ columns: cols, rows }));
  const fill = () => {
    if (host.clientWidth > LEAST_PX && host.clientHeight > LEAST_PX) fit.fit();
  };
  fill();
  const sizes = new ResizeObserver(fill);
  sizes.observe(host);
  const paint = () => {
    terminal.options.theme = themeOf(host);
  };
  const themes = new MutationObserver(paint);
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const isDark = matchMedia('(prefers-color-scheme: dark)');
  isDark.addEventListener('change', paint);
  return {
    get size() {
      return { columns: terminal.cols, rows: terminal.rows };
    },
    /** @param onShown called once it is to be seen */
    write: (output: Uint8Array | string, onShown?: () => void) => terminal.write(output, onShown),
    focus: () => terminal.focus(),
    /** Is output announced to a screen reader? */
    announce(isAnnounced: boolean) {
      terminal.options.screenReaderMode = isAnnounced;
    },
    dispose() {
      sizes.disconnect();
      themes.disconnect();
      isDark.removeEventListener('change', paint);
      terminal.dispose();
    },
  };
}

export type TerminalScreen = ReturnType<typeof openScreen>;

/** Shift+Tab leaves the terminal; Ctrl+V pastes, and Ctrl+C copies where something is selected: all three are the browser's then. */
function isForShell({ key, shiftKey, ctrlKey, altKey, metaKey }: KeyboardEvent, terminal: Terminal): boolean {
  if (key === 'Tab' && shiftKey) return false;
  if (!ctrlKey || altKey || metaKey) return true;
  if (key.toLowerCase() === 'v') return false;
  return !(key.toLowerCase() === 'c' && (shiftKey || terminal.hasSelection()));
}
