// The visible parts of the Electron fake: window, page, tray.
import { EventEmitter } from 'node:events';
import type { BrowserWindowConstructorOptions, MenuItemConstructorOptions, Rectangle } from 'electron';
import type { ContentsPart, TrayPart, WindowPart } from '../electron-parts.ts';

export type Template = MenuItemConstructorOptions[];
type WindowOpenHandler = Parameters<ContentsPart['setWindowOpenHandler']>[0];

/** Emits an event; returns whether a listener prevented it. */
export function isPrevented(emitter: EventEmitter, name: string, detail: object = {}, ...more: unknown[]): boolean {
  let prevented = false;
  emitter.emit(name, { ...detail, preventDefault: () => (prevented = true) }, ...more);
  return prevented;
}

class TestContents extends EventEmitter implements ContentsPart {
  url = '';
  openHandler: WindowOpenHandler = () => ({ action: 'allow' });

  getURL(): string {
    return this.url;
  }
  setWindowOpenHandler(handler: WindowOpenHandler): void {
    this.openHandler = handler;
  }

  /** Follows a link of the page; returns whether the shell allows it. */
  follow(url: string, isMainFrame = true): boolean {
    const detail = { url, isMainFrame };
    if (isPrevented(this, 'will-frame-navigate', detail)) return false;
    if (isMainFrame && isPrevented(this, 'will-navigate', detail)) return false;
    if (isMainFrame) this.url = url;
    return true;
  }
  /** Simulates a redirect; returns whether the shell allows it. */
  redirect(url: string): boolean {
    return !isPrevented(this, 'will-redirect', { url, isMainFrame: true });
  }
  /** Returns whether the page may attach a web view. */
  attachWebview(): boolean {
    return !isPrevented(this, 'will-attach-webview');
  }
}

export class TestWindow extends EventEmitter implements WindowPart {
  readonly webContents = new TestContents();
  readonly options: BrowserWindowConstructorOptions;
  readonly loaded: string[] = [];
  isShown = false;
  isLoading = false;
  focusCount = 0;
  isSmall = false;
  isLarge = false;
  isGone = false;
  bounds: Rectangle;

  constructor(options: BrowserWindowConstructorOptions) {
    super();
    this.options = options;
    this.bounds = { x: options.x ?? 0, y: options.y ?? 0, width: options.width ?? 0, height: options.height ?? 0 };
    this.isShown = options.show ?? true;
  }

  async loadURL(url: string): Promise<void> {
    this.loaded.push(url);
    this.webContents.url = url;
    const load = this.loaded.length;
    this.isLoading = true;
    try {
      // Like a browser, which resolves names below localhost by itself.
      if (url.startsWith('http'))
        await (await fetch(url.replace('//terrarium.localhost:', '//127.0.0.1:'))).arrayBuffer();
    } catch (failure) {
      // Another load has replaced this one.
      const isAborted = load !== this.loaded.length;
      const [code, description] = isAborted ? [-3, 'ERR_ABORTED'] : [-102, 'ERR_CONNECTION_REFUSED'];
      this.webContents.emit('did-fail-load', {}, code, description, url, true);
      throw failure;
    } finally {
      if (load === this.loaded.length) this.isLoading = false;
    }
    this.emit('ready-to-show');
  }
  show(): void {
    this.isShown = true;
  }
  hide(): void {
    this.isShown = false;
  }
  focus(): void {
    this.focusCount++;
  }
  restore(): void {
    this.isSmall = false;
  }
  maximize(): void {
    this.isLarge = true;
  }
  isMinimized(): boolean {
    return this.isSmall;
  }
  isMaximized(): boolean {
    return this.isLarge;
  }
  getNormalBounds(): Rectangle {
    return this.bounds;
  }
  /** The action of the close button; returns whether the window was closed. */
  close(): boolean {
    if (isPrevented(this, 'close')) return false;
    this.isGone = true;
    this.emit('closed');
    return true;
  }
}

export class TestTray extends EventEmitter implements TrayPart {
  toolTip = '';
  menu: Template = [];
  isGone = false;
  setToolTip(text: string): void {
    this.toolTip = text;
  }
  setContextMenu(menu: Template): void {
    this.menu = menu;
  }
  destroy(): void {
    this.isGone = true;
  }
}
