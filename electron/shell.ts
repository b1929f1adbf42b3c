import { join } from 'node:path';
import { SHELL_READY_FILE } from '../server/cli/running-platform.ts';
import { loginPath } from '../server/system/login-path.ts';
import { findLink, PROTOCOL, pathOfLink } from './deep-link.ts';
import type { ElectronParts, TrayPart } from './electron-parts.ts';
import { guardContents, guardSession, isExternalLink } from './guards.ts';
import { applicationMenu, type ShellActions, statusLine, trayMenu } from './menu.ts';
import { RETRY_URL } from './message-page.ts';
import { PlatformWindow } from './platform-window.ts';
import { type ServerState, ServerSupervisor } from './server-supervisor.ts';

export interface ShellOptions {
  electron: ElectronParts;
  /** dist/electron, with the server process and the icons. */
  folder: string;
  /** The arguments of `terrarium start`. */
  serverArguments: readonly string[];
  /** The arguments of this process, which can include a deep link. */
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** Working directory of the server. */
  workFolder: string;
  pid: number;
  print(text: string, stream?: 'stdout' | 'stderr'): void;
  restartDelaysMs?: number[];
}

/** `appId` in electron-builder.yml. */
const APP_ID = 'dev.terrarium.desktop';

/** The shell; undefined if another one is already running, which then comes to the front. */
export interface Shell {
  supervisor: ServerSupervisor;
  window: PlatformWindow;
}

/** Starts the shell: the server in a separate process, one window, menus, tray. Must be called before Electron is ready. */
export async function startShell(options: ShellOptions): Promise<Shell | undefined> {
  const { electron, folder, argv, platform, print } = options;
  const { app, Menu, Tray, BrowserWindow, screen, session, shell, clipboard, utilityProcess } = electron;
  if (!app.requestSingleInstanceLock()) {
    print('The window is already open and comes to the front.\n');
    app.quit();
    return undefined;
  }
  app.enableSandbox();
  // Without it Windows shows the window as another program than the one in the Start menu.
  if (platform === 'win32') app.setAppUserModelId(APP_ID);
  if (app.isPackaged) app.setAsDefaultProtocolClient(PROTOCOL);

  let isQuitting = false;
  let searchPath: string | undefined;
  let tray: TrayPart | undefined;
  const supervisor = new ServerSupervisor({
    // It contains an address that signs in, so it is not in a folder that other users can write to.
    readyFile: join(app.getPath('userData'), `terrarium-shell-${options.pid}.json`),
    fork: (readyFile) =>
      utilityProcess.fork(join(folder, 'server-process.js'), ['start', ...options.serverArguments, '--headless'], {
        cwd: options.workFolder,
        env: { ...serverEnvironment(options, readyFile), ...(searchPath && { PATH: searchPath }) },
        stdio: 'pipe',
        serviceName: 'Terrarium platform',
      }),
    onState: (state) => serverIs(state),
    onOutput: print,
    restartDelaysMs: options.restartDelaysMs,
  });
  const window = new PlatformWindow({
    electron: { BrowserWindow, screen },
    iconFile: join(folder, 'icon.png'),
    stateFile: join(app.getPath('userData'), 'window.json'),
    isQuitting: () => isQuitting || !tray,
    onHidden: () =>
      print(
        'The window is closed; the platform is still running. To open the window, use the tray icon. To stop the platform, press Ctrl+C.\n',
      ),
  });
  const openExternal = (url: string) => {
    if (isExternalLink(url)) shell.openExternal(url).catch((failure) => print(`${String(failure)}\n`, 'stderr'));
  };
  const openOfPlatform = (path: string) => {
    if (supervisor.state.phase === 'running') openExternal(new URL(path, supervisor.state.addresses.windowUrl).href);
  };
  const actions: ShellActions = {
    goTo: (path) => window.goTo(path),
    openInBrowser: () => openOfPlatform('/ui/'),
    openDocs: () => openOfPlatform('/docs'),
    copy: (text) => clipboard.writeText(text),
    showWindow: () => window.show(),
    restartServer: () => void supervisor.restart(),
    quit: () => app.quit(),
  };
  const goToLink = (link: string | undefined) => {
    const path = link && pathOfLink(link);
    if (path) window.goTo(path);
    else window.show();
  };

  function serverIs(state: ServerState): void {
    Menu.setApplicationMenu(Menu.buildFromTemplate(applicationMenu(platform, state, actions)));
    tray?.setContextMenu(Menu.buildFromTemplate(trayMenu(state, actions)));
    tray?.setToolTip(statusLine(state));
    window.serverIs(state);
  }

  app.on('web-contents-created', (_event, contents) =>
    guardContents(contents, {
      isOurs: (url) => window.isOurs(url),
      openExternal,
      act(url) {
        if (url !== RETRY_URL) return false;
        if (supervisor.state.phase === 'running') window.serverIs(supervisor.state);
        else supervisor.start();
        return true;
      },
    }),
  );
  app.on('second-instance', (_event, commandLine) => goToLink(findLink(commandLine)));
  app.on('open-url', (event, url) => {
    event.preventDefault();
    void app.whenReady().then(() => goToLink(url));
  });
  app.on('activate', () => window.show());
  // Without a tray, a closed window could not be reopened.
  app.on('window-all-closed', () => {
    if (!tray) app.quit();
  });
  let isStopped = false;
  app.on('before-quit', (event) => {
    isQuitting = true;
    if (isStopped) return;
    event.preventDefault();
    void supervisor.stop().then(() => {
      isStopped = true;
      tray?.destroy();
      app.quit();
    });
  });

  await app.whenReady();
  if (isQuitting) return { supervisor, window };
  guardSession(session.defaultSession, (url) => window.isOurs(url));
  try {
    tray = new Tray(join(folder, platform === 'darwin' ? 'trayTemplate.png' : 'tray.png'));
    tray.on('click', () => window.show());
  } catch (failure) {
    print(`The tray icon is not available, so closing the window stops the platform: ${String(failure)}\n`, 'stderr');
  }
  window.show();
  // Finder and the Dock do not start programs from the login shell.
  if (app.isPackaged && platform === 'darwin') searchPath = await loginPath(options.env);
  supervisor.start();
  const link = findLink(argv);
  if (link) goToLink(link);
  return { supervisor, window };
}

/** An installed shell keeps its world in its own user data folder. */
function serverEnvironment({ electron: { app }, env }: ShellOptions, readyFile: string): Record<string, string> {
  const definedVariables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const data = app.isPackaged ? { TERRARIUM_DATA: join(app.getPath('userData'), 'world') } : {};
  return { ...data, ...Object.fromEntries(definedVariables), [SHELL_READY_FILE]: readyFile };
}
