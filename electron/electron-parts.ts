// The part of Electron's API that the shell uses. main.ts passes the real module and tests pass a fake; both must match these types,
// so that the fake cannot differ from Electron.
import type {
  BrowserWindowConstructorOptions,
  ForkOptions,
  MenuItemConstructorOptions,
  Rectangle,
  WindowOpenHandlerResponse,
} from 'electron';

export interface PreventableEvent {
  preventDefault(): void;
}

export interface NavigationEvent extends PreventableEvent {
  url: string;
  isMainFrame: boolean;
}

export interface AppPart {
  readonly isPackaged: boolean;
  requestSingleInstanceLock(): boolean;
  setAsDefaultProtocolClient(protocol: string): boolean;
  enableSandbox(): void;
  setAppUserModelId(id: string): void;
  whenReady(): Promise<void>;
  getPath(name: 'userData'): string;
  quit(): void;
  exit(code: number): void;
  on(event: 'before-quit', listener: (event: PreventableEvent) => void): unknown;
  on(event: 'window-all-closed' | 'activate', listener: () => void): unknown;
  on(event: 'second-instance', listener: (event: unknown, argv: string[]) => void): unknown;
  on(event: 'open-url', listener: (event: PreventableEvent, url: string) => void): unknown;
  on(event: 'web-contents-created', listener: (event: unknown, contents: ContentsPart) => void): unknown;
}

export interface ContentsPart {
  getURL(): string;
  setWindowOpenHandler(handler: (details: { url: string }) => WindowOpenHandlerResponse): void;
  on(
    event: 'will-navigate' | 'will-redirect' | 'will-frame-navigate',
    listener: (event: NavigationEvent) => void,
  ): unknown;
  on(event: 'will-attach-webview', listener: (event: PreventableEvent) => void): unknown;
  on(event: 'render-process-gone', listener: (event: unknown, details: { reason: string }) => void): unknown;
  on(
    event: 'did-fail-load',
    listener: (event: unknown, code: number, description: string, url: string, isMainFrame: boolean) => void,
  ): unknown;
}

export interface WindowPart {
  readonly webContents: ContentsPart;
  loadURL(url: string): Promise<void>;
  show(): void;
  hide(): void;
  focus(): void;
  restore(): void;
  maximize(): void;
  isMinimized(): boolean;
  isMaximized(): boolean;
  getNormalBounds(): Rectangle;
  on(event: 'close', listener: (event: PreventableEvent) => void): unknown;
  on(event: 'closed', listener: () => void): unknown;
  once(event: 'ready-to-show', listener: () => void): unknown;
}

export interface TrayPart {
  setToolTip(text: string): void;
  // biome-ignore lint/suspicious/noExplicitAny: the shell only passes menus on
  setContextMenu(menu: any): void;
  destroy(): void;
  on(event: 'click', listener: () => void): unknown;
}

export interface SessionPart {
  setPermissionRequestHandler(
    handler: (
      contents: unknown,
      permission: string,
      callback: (isGranted: boolean) => void,
      details: { requestingUrl: string },
    ) => void,
  ): void;
  setPermissionCheckHandler(
    handler: (contents: unknown, permission: string, requestingOrigin: string) => boolean,
  ): void;
  setDevicePermissionHandler(handler: () => boolean): void;
}

export interface ServerChild {
  readonly pid: number | undefined;
  readonly stdout: NodeJS.ReadableStream | null;
  readonly stderr: NodeJS.ReadableStream | null;
  postMessage(message: unknown): void;
  kill(): boolean;
  on(event: 'exit', listener: (code: number) => void): unknown;
}

/** The parts of the `electron` module. */
export interface ElectronParts {
  app: AppPart;
  BrowserWindow: new (options: BrowserWindowConstructorOptions) => WindowPart;
  Tray: new (icon: string) => TrayPart;
  Menu: {
    buildFromTemplate(template: MenuItemConstructorOptions[]): unknown;
    // biome-ignore lint/suspicious/noExplicitAny: the shell only passes menus on
    setApplicationMenu(menu: any): void;
  };
  session: { readonly defaultSession: SessionPart };
  shell: { openExternal(url: string): Promise<void> };
  clipboard: { writeText(text: string): void };
  screen: { getAllDisplays(): { readonly workArea: Rectangle }[] };
  utilityProcess: { fork(file: string, args: string[], options: ForkOptions): ServerChild };
}
