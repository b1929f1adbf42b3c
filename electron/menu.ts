import type { MenuItemConstructorOptions } from 'electron';
import type { ServerState } from './server-supervisor.ts';

/** Actions of the menus and the tray. */
export interface ShellActions {
  goTo(path: string): void;
  openInBrowser(): void;
  openDocs(): void;
  copy(text: string): void;
  showWindow(): void;
  restartServer(): void;
  quit(): void;
}

/** Screens in the menu, with the number of their accelerator. */
const SCREENS = [
  ['Home', '/ui/'],
  ['Resources', '/ui/resources'],
  ['Lambdas', '/ui/lambdas'],
  ['Invocations', '/ui/invocations'],
  ['Gateway', '/ui/gateway'],
  ['Containers', '/ui/containers'],
  ['Pipelines', '/ui/pipelines'],
  ['Leads', '/ui/leads'],
  ['History', '/ui/history'],
] as const;

export function applicationMenu(
  platform: NodeJS.Platform,
  state: ServerState,
  actions: ShellActions,
): MenuItemConstructorOptions[] {
  const isRunning = state.phase === 'running';
  const isMac = platform === 'darwin';
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    {
      label: '&Platform',
      submenu: [
        ...addressItems(state, actions),
        { type: 'separator' },
        {
          label: 'Open in Browser',
          accelerator: 'CmdOrCtrl+Shift+B',
          enabled: isRunning,
          click: actions.openInBrowser,
        },
        { label: 'Restart Platform', accelerator: 'CmdOrCtrl+Shift+R', click: actions.restartServer },
        { type: 'separator' },
        { role: 'close' },
        ...(isMac ? [] : [{ label: 'Quit', accelerator: 'CmdOrCtrl+Q', click: actions.quit }]),
      ],
    },
    { role: 'editMenu' },
    {
      label: '&Go',
      submenu: SCREENS.map(([label, path], at) => ({
        label,
        accelerator: `CmdOrCtrl+${at + 1}`,
        enabled: isRunning,
        click: () => actions.goTo(path),
      })),
    },
    {
      label: '&View',
      submenu: [
        { role: 'reload' },
        { role: 'toggleDevTools' },
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    { role: 'help', submenu: [{ label: 'API Documentation', enabled: isRunning, click: actions.openDocs }] },
  ];
}

export function trayMenu(state: ServerState, actions: ShellActions): MenuItemConstructorOptions[] {
  return [
    { label: statusLine(state), enabled: false },
    { type: 'separator' },
    { label: 'Open Terrarium', click: actions.showWindow },
    ...addressItems(state, actions),
    { type: 'separator' },
    { label: 'Restart Platform', click: actions.restartServer },
    { label: 'Quit', click: actions.quit },
  ];
}

/** The state of the server in one line. */
export function statusLine(state: ServerState): string {
  switch (state.phase) {
    case 'starting':
      return 'Terrarium is starting';
    case 'running':
      return `Terrarium is running at ${state.addresses.baseUrl}`;
    case 'restarting':
      return `Terrarium is restarting: ${state.reason}`;
    case 'ended':
      return `Terrarium is not running: ${state.reason}`;
  }
}

function addressItems(state: ServerState, { copy }: ShellActions): MenuItemConstructorOptions[] {
  if (state.phase !== 'running') return [];
  const { metaUrl, securityUrl, gatewayUrl } = state.addresses;
  return [
    { label: 'Copy Resources Address', accelerator: 'CmdOrCtrl+Alt+1', click: () => copy(metaUrl) },
    { label: 'Copy Security Address', accelerator: 'CmdOrCtrl+Alt+2', click: () => copy(securityUrl) },
    // On macOS, Cmd+Shift+3 takes a picture of the screen.
    { label: 'Copy Gateway Address', accelerator: 'CmdOrCtrl+Alt+3', click: () => copy(gatewayUrl) },
  ];
}
