import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import type { Addresses } from './server-supervisor.ts';
import { clickItem } from './testing/desktop.ts';
import { ShellHarness } from './testing/shell.ts';

beforeAll(buildCommand);

describe('the window of a running platform', () => {
  let harness: ShellHarness;
  let addresses: Addresses;

  beforeAll(async () => {
    harness = await ShellHarness.make();
    await harness.start();
    addresses = await harness.runs();
  });
  afterAll(() => harness.close());

  const contents = () => harness.desktop.window.webContents;
  const origin = () => new URL(addresses.windowUrl).origin;
  const page = () => `${origin()}/ui/`;

  it('runs in the sandbox, without access to Node.js or to the shell', () => {
    expect(harness.desktop.app.isSandboxed).toBe(true);
    expect(harness.desktop.window.options.webPreferences).not.toHaveProperty('preload');
    expect(harness.desktop.window.options.webPreferences).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
    });
  });

  it('navigates only to pages of the platform; other links open in the browser', () => {
    expect(contents().follow(`${origin()}/docs`)).toBe(true);
    harness.desktop.opened.length = 0;
    for (const url of [
      'https://example.com/',
      addresses.gatewayUrl,
      'mailto:ada@example.com',
      'http://127.0.0.1:1/ui/',
    ]) {
      expect(contents().follow(url)).toBe(false);
      expect(harness.desktop.opened.pop()).toBe(url);
    }
    for (const url of [
      'file:///etc/passwd',
      'ssh://box',
      'javascript:alert(1)',
      'https://a:b@example.com/',
      'data:text/html,x',
    ]) {
      expect(contents().follow(url)).toBe(false);
      expect(contents().openHandler({ url })).toEqual({ action: 'deny' });
    }
    expect(contents().follow('https://example.com/', false)).toBe(false);
    expect(harness.desktop.opened).toEqual([]);
  });

  it('cannot open windows or web views, or be redirected elsewhere', () => {
    expect(contents().openHandler({ url: 'https://example.com/' })).toEqual({ action: 'deny' });
    expect(harness.desktop.opened.pop()).toBe('https://example.com/');
    expect(contents().attachWebview()).toBe(false);
    expect([contents().redirect('https://example.com/'), contents().redirect(page())]).toEqual([false, true]);
  });

  it('has only the permission to write to the clipboard', () => {
    expect(harness.desktop.isGranted('clipboard-sanitized-write', page())).toEqual([true, true, false]);
    expect(harness.desktop.isGranted('clipboard-sanitized-write', 'https://example.com/')).not.toContain(true);
    for (const permission of ['media', 'clipboard-read', 'geolocation', 'notifications', 'openExternal', 'usb']) {
      expect(harness.desktop.isGranted(permission, page())).toEqual([false, false, false]);
    }
  });

  it('has a menu that opens its screens and copies addresses', () => {
    const { desktop } = harness;
    clickItem(desktop.menu, 'Leads');
    expect(desktop.window.loaded.at(-1)).toBe(`${origin()}/ui/leads`);
    clickItem(desktop.menu, 'Copy Gateway Address');
    expect(desktop.copied).toBe(addresses.gatewayUrl);
    clickItem(desktop.menu, 'Open in Browser');
    expect(desktop.opened.pop()).toBe(page());
    clickItem(desktop.menu, 'API Documentation');
    expect(desktop.opened.pop()).toBe(`${origin()}/docs`);
  });

  it('has a different accelerator for each menu item', () => {
    const items = harness.desktop.menu.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
    const accelerators = items.flatMap(({ accelerator }) => accelerator ?? []);
    expect(accelerators.length).toBeGreaterThan(10);
    expect(new Set(accelerators).size).toBe(accelerators.length);
  });

  it.each([
    ['darwin', 'trayTemplate.png', ''],
    ['win32', 'tray.png', 'dev.terrarium.desktop'],
    ['linux', 'tray.png', ''],
  ] as const)('has the icon and the name that %s expects', async (platform, icon, userModelId) => {
    const other = await ShellHarness.make();
    try {
      await other.start({ platform });
      expect(basename(other.desktop.trayIcon)).toBe(icon);
      expect(other.desktop.app.userModelId).toBe(userModelId);
    } finally {
      await other.close();
    }
  });

  it('has a tray icon that shows the state and reopens a closed window', () => {
    const { desktop } = harness;
    const [tray] = desktop.trays;
    expect(tray?.toolTip).toBe(`Terrarium is running at ${addresses.baseUrl}`);
    expect(desktop.window.close()).toBe(false);
    expect(desktop.window.isShown).toBe(false);
    expect(harness.printed.join('')).toContain('The window is closed');
    tray?.emit('click');
    expect(desktop.window.isShown).toBe(true);
    clickItem(tray?.menu ?? [], 'Copy Resources Address');
    expect(desktop.copied).toBe(addresses.metaUrl);
  });

  it('comes to the front on a second start, at the path of the deep link', () => {
    const { app, window } = harness.desktop;
    window.isSmall = true;
    const count = window.focusCount;
    app.emit('second-instance', {}, ['electron', 'main.js']);
    expect([window.isSmall, window.focusCount]).toEqual([false, count + 1]);
    app.emit('second-instance', {}, ['electron', 'terrarium://resources/4711?tab=log&code=stolen']);
    expect(window.loaded.at(-1)).toBe(`${origin()}/ui/resources/4711?tab=log`);
    const { length } = window.loaded;
    app.emit('second-instance', {}, ['electron', 'terrarium://..%2f..%2fmeta']);
    expect(window.loaded).toHaveLength(length);
  });

  it('shows a message after a crash, and Retry reloads it', () => {
    const { window } = harness.desktop;
    window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(decodeURIComponent(window.loaded.at(-1) ?? '')).toContain('The window has crashed');
    window.webContents.follow('http://terrarium.invalid/retry');
    expect(window.loaded.at(-1)).toMatch(`${origin()}/ui/`);
  });
});

describe('a start', () => {
  let harness: ShellHarness;
  beforeEach(async () => {
    harness = await ShellHarness.make();
  });
  afterEach(() => harness.close());

  it('of a second shell brings the first one to the front, and starts nothing', async () => {
    harness.desktop.app.isFirst = false;
    expect(await harness.start()).toBeUndefined();
    expect([harness.desktop.app.hasQuit, harness.desktop.children.length]).toEqual([true, 0]);
    expect(harness.printed.join('')).toContain('already open');
  });

  it('opens the window at its last position and, once the platform is ready, the path of the deep link', async () => {
    const bounds = { x: 300, y: 200, width: 1000, height: 700 };
    await writeFile(join(harness.folder, 'window.json'), JSON.stringify({ bounds, isMaximized: true }));
    await harness.start({ argv: ['electron', 'terrarium://leads'] });
    const { window } = harness.desktop;
    expect(window.options).toMatchObject(bounds);
    expect(window.isLarge).toBe(true);
    const { windowUrl } = await harness.runs();
    expect(new URL(window.loaded.at(-1) ?? '').pathname).toBe('/ui/leads');
    expect(window.loaded.at(-1)).toMatch(new URL(windowUrl).origin);
  });

  it('without a tray ends with its window, together with the server', async () => {
    harness.desktop.hasTray = false;
    await harness.start();
    await harness.runs();
    expect(harness.desktop.window.close()).toBe(true);
    harness.desktop.app.emit('window-all-closed');
    await harness.shell.supervisor.stop();
    expect(harness.desktop.children.map(({ exitCode }) => exitCode)).toEqual([0]);
  });
});
