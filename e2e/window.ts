import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import type { TerrariumOptions } from '../server/library/api.ts';
import { InProcessPlatform } from './in-process-platform.ts';
import { PlatformProcess } from './platform-process.ts';
import type { WindowPlatform } from './window-platform.ts';

export { expect, type Page, type WindowPlatform };

interface Fixtures {
  /** How the platform is set; unless `containers` say otherwise there is no container engine. */
  startOptions: TerrariumOptions;
  /** Does the platform run in a separate process, as on the command line? Only that one can crash. */
  ownProcess: boolean;
  platform: WindowPlatform;
  /** Does the test do to its page what cannot be undone, as with its clock? Then no other test gets it. */
  discardsPage: boolean;
}

/** Where the window of the test before was. */
let lastPort = 0;
/**
 * The page of the test before, with nothing left of it. It stays where the window is: from any other place, a blank page, too, the
 * browser changes to another process and compiles all scripts again, which is half of what a load takes.
 */
let reusablePage: Page | undefined;
/** What a test may listen to. */
const PAGE_EVENTS = ['request', 'response', 'pageerror', 'console', 'dialog'];

/** Tests with a platform of their own: the demo world, no container engine. Nothing on any page may come from elsewhere. */
export const test = base.extend<Fixtures>({
  startOptions: [{}, { option: true }],
  ownProcess: [false, { option: true }],
  discardsPage: [false, { option: true }],
  context: async ({ browser, contextOptions }, use) => {
    const context = reusablePage?.context() ?? (await browser.newContext(contextOptions));
    await use(context);
    if (!reusablePage) return context.close();
    await context.clearCookies();
    await context.clearPermissions();
  },
  page: async ({ context, contextOptions, viewport }, use) => {
    const page = reusablePage ?? (await context.newPage());
    reusablePage = undefined;
    await use(page);
    if (!reusablePage) return;
    for (const event of PAGE_EVENTS) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.emulateMedia({ colorScheme: null, ...contextOptions });
    if (viewport) await page.setViewportSize(viewport);
  },
  platform: async ({ startOptions, ownProcess, browser, page, discardsPage }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
    const options: TerrariumOptions = { rootPassword: 'terrarium', containers: { engine: 'none' }, ...startOptions };
    await writeFile(join(folder, 'terrarium.json'), JSON.stringify(options));
    const platform = ownProcess
      ? new PlatformProcess(folder, [], { cwd: folder })
      : new InProcessPlatform(folder, options);
    lastPort = await platform.startAt(lastPort);
    const foreign: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== platform.windowOrigin) foreign.push(request.url());
    });
    page.on('pageerror', ({ message }) => faults.push(message));
    await use(platform);
    // A window that stays open in another context would ask for its platform until the browser ends.
    const others = browser.contexts().filter((one) => one !== page.context());
    await Promise.all(others.map((one) => one.close()));
    if (!discardsPage && (await platform.leave(page))) reusablePage = page;
    await platform.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
    expect(foreign, 'requests that left the platform').toEqual([]);
    expect(faults, 'faults of scripts').toEqual([]);
  },
});
