import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand } from '../server/testing/command.ts';
import type { Addresses } from './ready-file.ts';
import { clickItem } from './testing/desktop.ts';
import { Bench, START_TIMEOUT_MS } from './testing/shell.ts';

beforeAll(buildCommand, BUILD_TIMEOUT_MS);

describe('the window of a running platform', () => {
  let bench: Bench;
  let addresses: Addresses;

  beforeAll(async () => {
    bench = await Bench.make();
    await bench.start();
    addresses = await bench.runs();
  }, START_TIMEOUT_MS);
  afterAll(() => bench.close(), START_TIMEOUT_MS);

  const contents = () => bench.desktop.window.webContents;
  const origin = () => new URL(addresses.windowUrl).origin;
  const page = () => `${origin()}/ui/`;

  it('runs in the sandbox, without access to Node.js or to the shell', () => {
    expect(bench.desktop.app.isSandboxed).toBe(true);
    expect(bench.desktop.window.options.webPreferences).not.toHaveProperty('preload');
    expect(bench.desktop.window.options.webPreferences).toMatchObject({
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
    bench.desktop.opened.length = 0;
    for (const url of [
      'https://example.com/',
      addresses.gatewayUrl,
      'mailto:ada@example.com',
      'http://127.0.0.1:1/ui/',
    ]) {
      expect(contents().follow(url)).toBe(false);
      expect(bench.desktop.opened.pop()).toBe(url);
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
    expect(bench.desktop.opened).toEqual([]);
  });

  it('cannot open windows or web views, or be redirected elsewhere', () => {
    expect(contents().openHandler({ url: 'https://example.com/' })).toEqual({ action: 'deny' });
    expect(bench.desktop.opened.pop()).toBe('https://example.com/');
    expect(contents().attachWebview()).toBe(false);
    expect([contents().redirect('https://example.com/'), contents().redirect(page())]).toEqual([false, true]);
  });

  it('has only the permission to write to the clipboard', () => {
    expect(bench.desktop.isGranted('clipboard-sanitized-write', page())).toEqual([true, true, false]);
    expect(bench.desktop.isGranted('clipboard-sanitized-write', 'https://example.com/')).not.toContain(true);
    for (const permission of ['media', 'clipboard-read', 'geolocation', 'notifications', 'openExternal', 'usb']) {
      expect(bench.desktop.isGranted(permission, page())).toEqual([false, false, false]);
    }
  });

  it('has a menu that opens its screens and copies addresses', () => {
    const { desktop } = bench;
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
    const items = bench.desktop.menu.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
    const accelerators = items.flatMap(({ accelerator }) => accelerator ?? []);
    expect(accelerators.length).toBeGreaterThan(10);
    expect(new Set(accelerators).size).toBe(accelerators.length);
  });

  it.each([
    ['darwin', 'trayTemplate.png', ''],
    ['win32', 'tray.png', 'dev.terrarium.desktop'],
    ['linux', 'tray.png', ''],
  ] as const)('has the icon and the name that %s expects', async (platform, icon, userModelId) => {
    const other = await Bench.make();
    try {
      await other.start({ platform });
      expect(basename(other.desktop.trayIcon)).toBe(icon);
      expect(other.desktop.app.userModelId).toBe(userModelId);
    } finally {
      await other.close();
    }
  });

  it('has a tray icon that shows the state and reopens a closed window', () => {
    const { desktop } = bench;
    const [tray] = desktop.trays;
    expect(tray?.toolTip).toBe(`Terrarium is running at ${addresses.baseUrl}`);
    expect(desktop.window.close()).toBe(false);
    expect(desktop.window.isShown).toBe(false);
    expect(bench.printed.join('')).toContain('The window is closed');
    tray?.emit('click');
    expect(desktop.window.isShown).toBe(true);
    clickItem(tray?.menu ?? [], 'Copy Resources Address');
    expect(desktop.copied).toBe(addresses.metaUrl);
  });

  it('comes to the front on a second start, at the path of the deep link', () => {
    const { app, window } = bench.desktop;
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
    const { window } = bench.desktop;
    window.webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    expect(decodeURIComponent(window.loaded.at(-1) ?? '')).toContain('The window has crashed');
    window.webContents.follow('http://terrarium.invalid/retry');
    expect(window.loaded.at(-1)).toMatch(`${origin()}/ui/`);
  });
});

describe('a start', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.make();
  });
  afterEach(() => bench.close(), START_TIMEOUT_MS);

  it('of a second shell brings the first one to the front, and starts nothing', async () => {
    bench.desktop.app.isFirst = false;
    expect(await bench.start()).toBeUndefined();
    expect([bench.desktop.app.hasQuit, bench.desktop.children.length]).toEqual([true, 0]);
    expect(bench.printed.join('')).toContain('already open');
  });

  it(
    'opens the window at its last position and, once the platform is ready, the path of the deep link',
    async () => {
      const bounds = { x: 300, y: 200, width: 1000, height: 700 };
      await writeFile(join(bench.folder, 'window.json'), JSON.stringify({ bounds, isMaximized: true }));
      await bench.start({ argv: ['electron', 'terrarium://leads'] });
      const { window } = bench.desktop;
      expect(window.options).toMatchObject(bounds);
      expect(window.isLarge).toBe(true);
      const { windowUrl } = await bench.runs();
      expect(new URL(window.loaded.at(-1) ?? '').pathname).toBe('/ui/leads');
      expect(window.loaded.at(-1)).toMatch(new URL(windowUrl).origin);
    },
    START_TIMEOUT_MS,
  );

  it(
    'without a tray ends with its window, together with the server',
    async () => {
      bench.desktop.hasTray = false;
      await bench.start();
      await bench.runs();
      expect(bench.desktop.window.close()).toBe(true);
      bench.desktop.app.emit('window-all-closed');
      await bench.shell.supervisor.stop();
      expect(bench.desktop.children.map(({ exitCode }) => exitCode)).toEqual([0]);
    },
    START_TIMEOUT_MS,
  );
});
