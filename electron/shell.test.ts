import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand } from '../server/cli/command-for-tests.ts';
import { clickItem } from './electron-for-tests.ts';
import type { Addresses } from './ready-file.ts';
import { Bench, START_TIMEOUT_MS } from './shell-for-tests.ts';

beforeAll(buildCommand, BUILD_TIMEOUT_MS);

describe('a window of a platform that runs', () => {
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

  it('has no way to Node or to the shell, and lives in the sandbox', () => {
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

  it('goes nowhere but to pages of the platform; links elsewhere open outside', () => {
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

  it('gets no window, no web view and no redirect to elsewhere', () => {
    expect(contents().openHandler({ url: 'https://example.com/' })).toEqual({ action: 'deny' });
    expect(bench.desktop.opened.pop()).toBe('https://example.com/');
    expect(contents().attachWebview()).toBe(false);
    expect([contents().redirect('https://example.com/'), contents().redirect(page())]).toEqual([false, true]);
  });

  it('may write to the clipboard and nothing else', () => {
    expect(bench.desktop.isGranted('clipboard-sanitized-write', page())).toEqual([true, true, false]);
    expect(bench.desktop.isGranted('clipboard-sanitized-write', 'https://example.com/')).not.toContain(true);
    for (const permission of ['media', 'clipboard-read', 'geolocation', 'notifications', 'openExternal', 'usb']) {
      expect(bench.desktop.isGranted(permission, page())).toEqual([false, false, false]);
    }
  });

  it('has a menu that leads to its screens and copies addresses', () => {
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

  it('gives each item of its menu an accelerator of its own', () => {
    const items = bench.desktop.menu.flatMap(({ submenu }) => (Array.isArray(submenu) ? submenu : []));
    const accelerators = items.flatMap(({ accelerator }) => accelerator ?? []);
    expect(accelerators.length).toBeGreaterThan(10);
    expect(new Set(accelerators).size).toBe(accelerators.length);
  });

  it('has a tray that says how it is, and brings a closed window back', () => {
    const { desktop } = bench;
    const [tray] = desktop.trays;
    expect(tray?.toolTip).toBe(`Terrarium runs at ${addresses.baseUrl}`);
    expect(desktop.window.close()).toBe(false);
    expect(desktop.window.isShown).toBe(false);
    expect(bench.printed.join('')).toContain('The window is closed');
    tray?.emit('click');
    expect(desktop.window.isShown).toBe(true);
    clickItem(tray?.menu ?? [], 'Copy Resources Address');
    expect(desktop.copied).toBe(addresses.metaUrl);
  });

  it('comes to the front when it is started again, at the place that a link names', () => {
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

  it('that crashes says so, and Retry brings it back', () => {
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

  it('beside a shell that runs brings that one to the front, and starts nothing', async () => {
    bench.desktop.app.isFirst = false;
    expect(await bench.start()).toBeUndefined();
    expect([bench.desktop.app.hasQuit, bench.desktop.children.length]).toEqual([true, 0]);
    expect(bench.printed.join('')).toContain('open already');
  });

  it(
    'opens the window where it was, and the place that a link names once the platform runs',
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
    'without a tray ends with its window, and the server with it',
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
