import { join } from 'node:path';
import { SHELL_READY_FILE } from '../server/cli/running-platform.ts';
import { findLink, PROTOCOL, placeOfLink } from './deep-link.ts';
import type { ElectronParts, TrayPart } from './electron-parts.ts';
import { isExternalLink } from './external-link.ts';
import { guardContents, guardSession } from './guards.ts';
import { applicationMenu, type ShellActions, statusLine, trayMenu } from './menu.ts';
import { RETRY_URL } from './message-page.ts';
import { PlatformWindow } from './platform-window.ts';
import type { RestartPolicy } from './restart-policy.ts';
import { type ServerState, ServerSupervisor } from './server-supervisor.ts';

export interface ShellOptions {
  electron: ElectronParts;
  /** dist/electron: the server's process, the icons. */
  folder: string;
  /** What stands behind `terrarium start`. */
  serverArguments: readonly string[];
  /** What this process was started with; a deep link may be among it. */
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** The folder that the server works in. */
  workFolder: string;
  pid: number;
  print(text: string, stream?: 'stdout' | 'stderr'): void;
  restartPolicy?: RestartPolicy;
}

/** What runs; undefined where another shell does already, which then comes to the front. */
export interface Shell {
  supervisor: ServerSupervisor;
  window: PlatformWindow;
}

/** Brings up the shell: the server in a process of its own, one window, menus, tray. To be called before Electron is ready. */
export async function startShell(options: ShellOptions): Promise<Shell | undefined> {
  const { electron, folder, argv, platform, print } = options;
  const { app, Menu, Tray, BrowserWindow, screen, session, shell, clipboard, utilityProcess } = electron;
  if (!app.requestSingleInstanceLock()) {
    print('The window is open already: it comes to the front.\n');
    app.quit();
    return undefined;
  }
  app.enableSandbox();
  if (app.isPackaged) app.setAsDefaultProtocolClient(PROTOCOL);

  let isQuitting = false;
  let tray: TrayPart | undefined;
  const supervisor = new ServerSupervisor({
    readyFile: join(app.getPath('temp'), `terrarium-shell-${options.pid}.json`),
    fork: (readyFile) =>
      utilityProcess.fork(join(folder, 'server-process.js'), ['start', ...options.serverArguments, '--headless'], {
        cwd: options.workFolder,
        env: serverEnvironment(options, readyFile),
        stdio: 'pipe',
        serviceName: 'Terrarium platform',
      }),
    onState: (state) => serverIs(state),
    onOutput: print,
    ...(options.restartPolicy && { policy: options.restartPolicy }),
  });
  const window = new PlatformWindow({
    electron: { BrowserWindow, screen },
    iconFile: join(folder, 'icon.png'),
    stateFile: join(app.getPath('userData'), 'window.json'),
    isQuitting: () => isQuitting || !tray,
    onHidden: () =>
      print('The window is closed; the platform goes on. Open it from the tray, or stop all with Ctrl+C.\n'),
  });
  const openExternal = (url: string) => {
    if (isExternalLink(url)) shell.openExternal(url).catch((failure) => print(`${String(failure)}\n`, 'stderr'));
  };
  const openOfPlatform = (path: string) => {
    if (supervisor.state.phase === 'running') openExternal(new URL(path, supervisor.state.addresses.windowUrl).href);
  };
  const actions: ShellActions = {
    goTo: (place) => window.goTo(place),
    openInBrowser: () => openOfPlatform('/ui/'),
    openDocs: () => openOfPlatform('/docs'),
    copy: (text) => clipboard.writeText(text),
    showWindow: () => window.show(),
    restartServer: () => void supervisor.restart(),
    quit: () => app.quit(),
  };
  const goToLink = (link: string | undefined) => {
    const place = link && placeOfLink(link);
    if (place) window.goTo(place);
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
  app.on('second-instance', (_event, words) => goToLink(findLink(words)));
  app.on('open-url', (event, url) => {
    event.preventDefault();
    void app.whenReady().then(() => goToLink(url));
  });
  app.on('activate', () => window.show());
  // Without a tray nobody could come back to a platform whose window is closed.
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
    tray = new Tray(join(folder, 'tray.png'));
    tray.on('click', () => window.show());
  } catch (failure) {
    print(`There is no tray to be in, so closing the window stops the platform: ${String(failure)}\n`, 'stderr');
  }
  window.show();
  supervisor.start();
  const link = findLink(argv);
  if (link) goToLink(link);
  return { supervisor, window };
}

/** An installed shell has no folder of its user's to keep a world in, other than its own. */
function serverEnvironment({ electron: { app }, env }: ShellOptions, readyFile: string): Record<string, string> {
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const data = app.isPackaged ? { TERRARIUM_DATA: join(app.getPath('userData'), 'world') } : {};
  return { ...data, ...Object.fromEntries(given), [SHELL_READY_FILE]: readyFile };
}
