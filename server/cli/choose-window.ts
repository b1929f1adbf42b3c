import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ConfigWithOrigins } from '../platform/config.ts';
import type { Config } from '../platform/config-schema.ts';
import { isOlderNode } from '../system/node-program.ts';
import { SYSTEM } from '../system/this-system.ts';
import type { Terminal } from './terminal.ts';

/** The path of Electron's binary, or why it is missing and the folder of its package if it can be downloaded into that. */
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

/** Chooses the first window that is possible, after the reasons for none: a script or a server needs none, whatever is installed. */
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

/** Browsers that support `--app`, by command name; the first one found is used. */
const COMMANDS: readonly (readonly [command: string, name: string])[] = [
  ['chromium', 'Chromium'],
  ['chromium-browser', 'Chromium'],
  ['google-chrome', 'Chrome'],
  ['google-chrome-stable', 'Chrome'],
  ['microsoft-edge', 'Edge'],
  ['microsoft-edge-stable', 'Edge'],
];
const MAC_APPS: readonly (readonly [app: string, name: string])[] = [
  ['Google Chrome', 'Chrome'],
  ['Chromium', 'Chromium'],
  ['Microsoft Edge', 'Edge'],
];
const WINDOWS_FOLDERS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'];
const WINDOWS_APPS: readonly (readonly [file: string, name: string])[] = [
  ['Google/Chrome/Application/chrome.exe', 'Chrome'],
  ['Chromium/Application/chrome.exe', 'Chromium'],
  ['Microsoft/Edge/Application/msedge.exe', 'Edge'],
];

/** The built shell, relative to this file in the bundle (dist/server) and in source. */
const SHELL_FILES = ['../electron/main.js', '../../dist/electron/main.js'];

/** The part of a terminal that decides where a window opens. */
export type TerminalInfo = Pick<Terminal, 'env' | 'isInteractive' | 'nodeVersion'>;
export type WindowSettings = Pick<WindowContext, 'isHeadless' | 'window'>;

/** The window settings of a configuration; `isHeadless` is undefined if only its default applies. */
export function windowSettings({ config, origins }: ConfigWithOrigins): WindowSettings {
  return { isHeadless: origins.get('headless') === 'default' ? undefined : config.headless, window: config.window };
}

/** Inspects the machine, without downloading or starting anything. */
export function windowContext(terminal: TerminalInfo, settings: WindowSettings): WindowContext {
  const platform = SYSTEM;
  const { env, isInteractive } = terminal;
  return {
    ...settings,
    isCi: Boolean(env.CI) && env.CI !== 'false' && env.CI !== '0',
    isTerminal: isInteractive,
    isSsh: Boolean(env.SSH_CONNECTION ?? env.SSH_TTY),
    isRoot: platform === 'linux' && process.getuid?.() === 0,
    platform,
    hasDisplay: platform === 'darwin' || platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY),
    // Getters, so that a start without a window does not wait for the search.
    get electron() {
      return findShellFile() ? findElectron(terminal) : { missing: 'the Electron shell is not built' };
    },
    get chromium() {
      return findChromium(platform, env);
    },
    get opener() {
      return findOpener(platform, env);
    },
  };
}

/** The context for the window of a platform that already runs. An Electron window starts its own one. */
export function browserContext(terminal: TerminalInfo, configured: ConfigWithOrigins): WindowContext {
  const electron = { missing: 'an Electron window starts its own platform' };
  return { ...windowContext(terminal, windowSettings(configured)), electron };
}

export function findShellFile(): string | undefined {
  return SHELL_FILES.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path));
}

function findChromium(platform: NodeJS.Platform, env: Terminal['env']): WindowContext['chromium'] {
  const candidates =
    platform === 'darwin'
      ? MAC_APPS.map(([app, name]) => ({ path: `/Applications/${app}.app/Contents/MacOS/${app}`, name }))
      : platform === 'win32'
        ? WINDOWS_APPS.flatMap(([file, name]) =>
            WINDOWS_FOLDERS.flatMap((variable) => env[variable] ?? []).map((folder) => ({
              path: join(folder, file),
              name,
            })),
          )
        : COMMANDS.flatMap(([command, name]) => onPath(command, env).map((path) => ({ path, name })));
  return candidates.find(({ path }) => isExecutable(path));
}

function findOpener(platform: NodeJS.Platform, env: Terminal['env']): readonly string[] | undefined {
  if (platform === 'darwin') return ['/usr/bin/open'];
  // Without cmd, which interprets characters of an address.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  const path = onPath('xdg-open', env).find(isExecutable);
  return path ? [path] : undefined;
}

function onPath(command: string, env: Terminal['env']): string[] {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, command));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const manifest = z.looseObject({ engines: z.looseObject({ node: z.string() }) });

/** Finds Electron without loading its package, which downloads the binary as soon as it is loaded. */
export function findElectron(
  { env, nodeVersion }: Pick<Terminal, 'env' | 'nodeVersion'>,
  folder = electronFolder(),
): ElectronBinary {
  if (folder === undefined)
    return { missing: 'Electron is not installed (to install it: npm install --save-dev electron)' };
  const override = env.ELECTRON_OVERRIDE_DIST_PATH;
  const named = join(folder, 'path.txt');
  if (override || existsSync(named)) {
    const name = existsSync(named) ? readFileSync(named, 'utf8').trim() : 'electron';
    const path = join(override || join(folder, 'dist'), name);
    if (existsSync(path)) return { path };
    if (override) return { missing: `Electron's binary is not installed in ${override}` };
  }
  const missing = "Electron's binary is not installed";
  if (env.ELECTRON_SKIP_BINARY_DOWNLOAD) return { missing: `${missing}, and ELECTRON_SKIP_BINARY_DOWNLOAD is set` };
  const requiredNode = nodeWantedBy(folder);
  if (isOlderNode(nodeVersion, requiredNode))
    return {
      missing: `${missing}, and its download requires Node.js ${requiredNode} or later (this is ${nodeVersion})`,
    };
  return { missing: `${missing} yet`, fetchInto: folder };
}

function electronFolder(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  } catch {
    return undefined;
  }
}

function nodeWantedBy(folder: string): string {
  const { engines } = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  return engines.node.replace(/^\D+/, '');
}
