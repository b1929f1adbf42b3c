import type { ElectronParts, WindowPart } from './electron-parts.ts';
import { messageOf, messagePage } from './message-page.ts';
import type { Addresses, ServerState } from './server-supervisor.ts';
import { MIN_SIZE, placeWindow, readWindowState, writeWindowState } from './window-state.ts';

/** Chromium's error code for a load that another one replaced. */
const ABORTED = -3;
/** Query parameter of the one-time code. */
const CODE = 'code';

export interface PlatformWindowOptions {
  electron: Pick<ElectronParts, 'BrowserWindow' | 'screen'>;
  iconFile: string;
  /** File with the last position of the window. */
  stateFile: string;
  /** Is the shell quitting? Otherwise a closed window is only hidden. */
  isQuitting(): boolean;
  onHidden(): void;
}

/** The window: shows the platform while it is running, otherwise a message. */
export class PlatformWindow {
  readonly #options: PlatformWindowOptions;
  #window: WindowPart | undefined;
  #state: ServerState = { phase: 'starting' };
  #addresses: Addresses | undefined;
  /** Path to open when the platform is ready, such as `/ui/leads`. */
  #pendingPath: string | undefined;
  /** The address whose one-time code has been used. */
  #usedUrl: string | undefined;
  /** The page of the platform that a message has replaced. */
  #replacedPage: string | undefined;

  constructor(options: PlatformWindowOptions) {
    this.#options = options;
  }

  /** Returns true for a page of the platform. Returns false while the addresses of the platform are unknown. */
  isOurs(url: string): boolean {
    if (!this.#addresses || !URL.canParse(url)) return false;
    return new URL(url).origin === new URL(this.#addresses.windowUrl).origin;
  }

  show(): void {
    if (!this.#window) {
      this.#open();
      return;
    }
    if (this.#window.isMinimized()) this.#window.restore();
    this.#window.show();
    this.#window.focus();
  }

  /** Opens a path of the platform, such as `/ui/leads`, now or when it is ready. */
  goTo(path: string): void {
    this.#pendingPath = path;
    if (this.#state.phase === 'running') this.#load();
    this.show();
  }

  /** Shows the state of the server. */
  serverIs(state: ServerState): void {
    const current = this.#window?.webContents.getURL() ?? '';
    if (this.isOurs(current)) this.#replacedPage = current;
    this.#state = state;
    if (state.phase === 'running') this.#addresses = state.addresses;
    this.#load();
  }

  #open(): void {
    const { electron, iconFile, stateFile, isQuitting, onHidden } = this.#options;
    const before = readWindowState(stateFile);
    const window = new electron.BrowserWindow({
      ...placeWindow(
        before,
        electron.screen.getAllDisplays().map(({ workArea }) => workArea),
      ),
      minWidth: MIN_SIZE.width,
      minHeight: MIN_SIZE.height,
      show: false,
      title: 'Terrarium',
      icon: iconFile,
      webPreferences: {
        contextIsolation: true,
        sandbox: true,
        nodeIntegration: false,
        nodeIntegrationInWorker: false,
        nodeIntegrationInSubFrames: false,
        webSecurity: true,
        allowRunningInsecureContent: false,
        webviewTag: false,
        navigateOnDragDrop: false,
        spellcheck: false,
      },
    });
    this.#window = window;
    if (before?.isMaximized) window.maximize();
    window.once('ready-to-show', () => window.show());
    window.on('close', (event) => {
      writeWindowState(stateFile, { bounds: window.getNormalBounds(), isMaximized: window.isMaximized() });
      if (isQuitting()) return;
      event.preventDefault();
      window.hide();
      onHidden();
    });
    window.on('closed', () => {
      this.#window = undefined;
    });
    window.webContents.on('did-fail-load', (_event, code, description, url, isMainFrame) => {
      if (!isMainFrame || code === ABORTED || !this.isOurs(url)) return;
      this.#replacedPage = url;
      this.#usedUrl = undefined;
      this.#showMessage('The window cannot be loaded', `The platform did not send its page: ${description}.`);
    });
    window.webContents.on('render-process-gone', (_event, { reason }) => {
      if (reason !== 'clean-exit')
        this.#showMessage('The window has crashed', `Its page has ended (${reason}). The platform is still running.`);
    });
    this.#load();
  }

  #load(): void {
    const message = messageOf(this.#state);
    if (message) this.#go(messagePage(message));
    else if (this.#addresses) {
      const { windowUrl } = this.#addresses;
      this.#go(withPath(windowUrl, this.#pendingPath ?? this.#replacedPage, windowUrl !== this.#usedUrl));
      // A window that is not open yet has not used its code.
      if (!this.#window) return;
      this.#usedUrl = windowUrl;
      this.#pendingPath = undefined;
      this.#replacedPage = undefined;
    }
  }

  #showMessage(title: string, text: string): void {
    this.#go(messagePage({ title, text, canRetry: true }));
  }

  #go(url: string): void {
    // did-fail-load reports a failure.
    this.#window?.loadURL(url).catch(() => undefined);
  }
}

/** The sign-in address with another path; without its code if that has been used. */
function withPath(windowUrl: string, path: string | undefined, withCode: boolean): string {
  const url = new URL(windowUrl);
  if (!withCode) url.searchParams.delete(CODE);
  const { pathname, searchParams, hash } = new URL(path ?? windowUrl, windowUrl);
  if (path === undefined || !pathname.startsWith('/ui/')) return url.href;
  url.pathname = pathname;
  url.hash = hash;
  for (const [name, value] of searchParams) if (name !== CODE) url.searchParams.append(name, value);
  return url.href;
}
