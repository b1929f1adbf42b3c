// A fake of the `electron` module for tests without its binary. It has the type that main.ts passes, records what the shell does, and
// lets a test act as the user. Pages are fetched over HTTP, and a utility process is a real process.
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type { BrowserWindowConstructorOptions, ForkOptions, Rectangle } from 'electron';
import type { AppPart, ElectronParts, SessionPart } from '../electron-parts.ts';
import { isPrevented, type Template, TestTray, TestWindow } from './window.ts';

/** Gives a Node.js process a port to its parent, like Electron's utility process. */
const PARENT_PORT = `data:text/javascript,${encodeURIComponent(
  'process.parentPort = { on: (name, listener) => process.on(name, (data) => listener({ data })) };',
)}`;

class TestApp extends EventEmitter implements AppPart {
  readonly isPackaged = false;
  readonly folder: string;
  isFirst = true;
  isSandboxed = false;
  hasQuit = false;
  readonly windows: TestWindow[] = [];

  constructor(folder: string) {
    super();
    this.folder = folder;
  }
  requestSingleInstanceLock(): boolean {
    return this.isFirst;
  }
  setAsDefaultProtocolClient(): boolean {
    return true;
  }
  userModelId = '';
  setAppUserModelId(id: string): void {
    this.userModelId = id;
  }
  enableSandbox(): void {
    this.isSandboxed = true;
  }
  async whenReady(): Promise<void> {}
  getPath(): string {
    return this.folder;
  }
  quit(): void {
    if (isPrevented(this, 'before-quit')) return;
    this.hasQuit = this.windows.every((window) => window.isGone || window.close());
    if (this.hasQuit) this.emit('quit');
  }
  exit(): void {
    this.hasQuit = true;
  }
}

/** A desktop without Electron. */
export class TestDesktop {
  readonly app: TestApp;
  readonly trays: TestTray[] = [];
  readonly opened: string[] = [];
  readonly children: ChildProcess[] = [];
  copied = '';
  menu: Template = [];
  workAreas: Rectangle[] = [{ x: 0, y: 0, width: 1920, height: 1080 }];
  hasTray = true;
  trayIcon = '';
  isGranted: (permission: string, url: string) => boolean[] = () => [];

  /** @param folder user data folder of the shell */
  constructor(folder: string) {
    this.app = new TestApp(folder);
  }

  get window(): TestWindow {
    const window = this.app.windows.findLast((candidate) => !candidate.isGone);
    if (!window) throw new Error('no window is open');
    return window;
  }

  parts(): ElectronParts {
    const desktop = this;
    return {
      app: this.app,
      BrowserWindow: class extends TestWindow {
        constructor(options: BrowserWindowConstructorOptions) {
          super(options);
          desktop.app.windows.push(this);
          desktop.app.emit('web-contents-created', {}, this.webContents);
        }
      },
      Tray: class extends TestTray {
        constructor(icon: string) {
          super();
          desktop.trayIcon = icon;
          if (!desktop.hasTray) throw new Error('no tray on this desktop');
          desktop.trays.push(this);
        }
      },
      Menu: {
        buildFromTemplate: (template) => template,
        setApplicationMenu: (menu: Template) => {
          this.menu = menu;
        },
      },
      session: { defaultSession: this.#session() },
      shell: { openExternal: async (url) => void this.opened.push(url) },
      clipboard: {
        writeText: (text) => {
          this.copied = text;
        },
      },
      screen: { getAllDisplays: () => this.workAreas.map((workArea) => ({ workArea })) },
      utilityProcess: { fork: (file, args, options) => this.#fork(file, args, options) },
    };
  }

  #session(): SessionPart {
    const answers: ((permission: string, url: string) => boolean)[] = [];
    this.isGranted = (permission, url) => answers.map((answer) => answer(permission, url));
    return {
      setPermissionRequestHandler: (handler) =>
        answers.push((permission, requestingUrl) => {
          let isGranted = false;
          const callback = (answer: boolean) => {
            isGranted = answer;
          };
          handler({}, permission, callback, { requestingUrl });
          return isGranted;
        }),
      setPermissionCheckHandler: (handler) => answers.push((permission, url) => handler({}, permission, url)),
      setDevicePermissionHandler: (handler) => answers.push(() => handler()),
    };
  }

  #fork(file: string, args: string[], { cwd, env }: ForkOptions) {
    const child = spawn(process.execPath, ['--import', PARENT_PORT, file, ...args], {
      ...(cwd && { cwd }),
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.children.push(child);
    return {
      get pid() {
        return child.pid;
      },
      stdout: child.stdout,
      stderr: child.stderr,
      postMessage: (message: unknown) => void (child.connected && child.send(message as string)), // it is one
      kill: () => child.kill(),
      on: (_event: 'exit', listener: (code: number) => void) =>
        // If a signal ended the process, Electron reports the number of the signal.
        child.on('exit', (code) => listener(code ?? 9)),
    };
  }
}

/** Clicks the menu item with that label, on any level. */
export function clickItem(menu: Template, label: string): void {
  const items = menu.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? item.submenu : [])]);
  const item = items.find((menuItem) => menuItem.label === label);
  if (!item?.click || item.enabled === false) throw new Error(`the menu has no '${label}' to click`);
  // The shell's items ignore the arguments that Electron passes.
  (item.click as () => void)();
}

/** Folder of the built shell. */
export const SHELL_FOLDER = join(import.meta.dirname, '..', '..', 'dist', 'electron');
