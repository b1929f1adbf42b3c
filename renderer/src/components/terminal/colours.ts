import type { ITheme } from '@xterm/xterm';

/** The colours that programs name; xterm makes each readable on its background. */
const LIGHT = ['#1b221e', '#b3261e', '#1b6f4a', '#875000', '#1f5cb4', '#7d3c98', '#0b6e78', '#636d67'];
const DARK = ['#3a4942', '#f5857a', '#5cc394', '#e2ad54', '#86adf2', '#c99be8', '#6cc7d1', '#e4eae6'];
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const ANSI_COLOURS = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White'] as const;

/** The tokens of tokens.css, as they are at an element now: xterm reads no variables. */
export function themeOf(element: HTMLElement): ITheme {
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
