import type { Config } from '../platform/config-schema.ts';

/**
 * The path of Electron's binary; or why it is missing and, if it can be downloaded, the folder of Electron's package to download it
 * into.
 */
export type ElectronBinary = { path: string } | { missing: string; fetchInto?: string };

export interface WindowContext {
  /** `headless` of the configuration; undefined when it is not set. */
  isHeadless: boolean | undefined;
  window: Config['window'];
  isCi: boolean;
  isTerminal: boolean;
  isSsh: boolean;
  isRoot: boolean;
  platform: NodeJS.Platform;
  /** True if there is a display of X11 or Wayland; macOS and Windows always have one. */
  hasDisplay: boolean;
  electron: ElectronBinary;
  /** A Chromium-based browser, which can show one page as an application. */
  chromium?: { path: string; name: string } | undefined;
  /** The command line that opens an address in the default browser. */
  opener?: readonly string[] | undefined;
}

/** The window to open, and a line with the reason; no line if the user asked for it. */
export type WindowChoice =
  | { kind: 'electron'; path: string; line: string }
  | { kind: 'app'; path: string; name: string; line: string }
  | { kind: 'browser'; opener: readonly string[]; line: string }
  | { kind: 'headless'; line?: string };

/**
 * Chooses Electron, else Chromium in application mode, else the default browser, else no window. The reasons for no window come
 * first: a script or a server needs none, whatever is installed.
 */
export function chooseWindow(context: WindowContext): WindowChoice {
  const { window } = context;
  if (context.isHeadless || window === 'none') return { kind: 'headless' };
  const obstacle = obstacleOf(context);
  if (obstacle) return { kind: 'headless', line: `The window was not opened because ${obstacle}.` };
  const { chromium, opener } = context;
  const electron = window === 'browser' ? { missing: '--window browser is set' } : context.electron;
  if ('path' in electron) return { kind: 'electron', path: electron.path, line: 'Opening the window in Electron.' };
  if (chromium) {
    const line = `Opening the window in ${chromium.name}, because ${electron.missing}.`;
    return { kind: 'app', ...chromium, line };
  }
  const why = `${electron.missing}, and no Chromium, Chrome or Edge was found`;
  if (opener) return { kind: 'browser', opener, line: `Opening the default browser, because ${why}.` };
  return {
    kind: 'headless',
    line: `The window was not opened: ${why}, and no program that opens a browser was found.`,
  };
}

function obstacleOf(context: WindowContext): string | undefined {
  const { isHeadless, window, isCi, isTerminal, isSsh, isRoot, platform, hasDisplay } = context;
  // headless=false or an explicit window also opens one in scripts and CI, unless it cannot work.
  const isRequested = isHeadless === false || window !== 'auto';
  if (isCi && !isRequested) return 'the variable CI is set (TERRARIUM_HEADLESS=false opens it anyway)';
  if (isSsh && (!hasDisplay || platform !== 'linux')) return 'an SSH session has no display';
  if (!hasDisplay) return 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)';
  if (isRoot)
    return 'you are running as root. Start Terrarium as a regular user, or use --window none to hide this message';
  if (!isTerminal && !isRequested)
    return 'Terrarium was not started from a terminal (TERRARIUM_HEADLESS=false opens it anyway)';
  return undefined;
}
