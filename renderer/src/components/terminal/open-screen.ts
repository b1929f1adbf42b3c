import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

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

/** The colours that programs name; xterm makes each readable on its background. */
const LIGHT = ['#1b221e', '#b3261e', '#1b6f4a', '#875000', '#1f5cb4', '#7d3c98', '#0b6e78', '#636d67'];
const DARK = ['#3a4942', '#f5857a', '#5cc394', '#e2ad54', '#86adf2', '#c99be8', '#6cc7d1', '#e4eae6'];
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const ANSI_COLOURS = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White'] as const;

/** The tokens of tokens.css, as they are at an element now: xterm reads no variables. */
function themeOf(element: HTMLElement): ITheme {
  const colour = (token: string) => {
    const probe = document.createElement('span');
    probe.style.color = `var(--${token})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const background = colour('panel');
  const [red = 255] = (background.match(/\d+/g) ?? []).map(Number);
  const named = red < 128 ? DARK : LIGHT;
  return {
    background,
    foreground: colour('text'),
    cursor: colour('accent'),
    cursorAccent: background,
    selectionBackground: colour('running'),
    selectionForeground: background,
    scrollbarSliderBackground: colour('line-strong'),
    ...Object.fromEntries(NAMES.map((name, at) => [name, named[at]])),
    ...Object.fromEntries(ANSI_COLOURS.map((name, at) => [`bright${name}`, named[at]])),
  };
}

/**
 * Runs code that creates `<style>` elements, as xterm does when it opens. The content security policy would leave these
 * elements empty, so the code gets replacements whose text becomes a style sheet that a script adopts, which the policy
 * allows.
 */
function withoutStyleElements(work: () => void): void {
  const create = document.createElement;
  document.createElement = (name: string, options?: ElementCreationOptions) =>
    name === 'style' ? ruleHolder() : create.call(document, name, options);
  try {
    work();
  } finally {
    document.createElement = create;
  }
}

function ruleHolder(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const holder = document.createElement('span');
  holder.hidden = true;
  Object.defineProperty(holder, 'textContent', { set: (rules: string) => sheet.replaceSync(rules) });
  holder.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((adoptedSheet) => adoptedSheet !== sheet);
    HTMLElement.prototype.remove.call(holder);
  };
  return holder;
}
