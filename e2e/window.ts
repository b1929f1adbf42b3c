import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import type { TerrariumOptions } from '../server/library/api.ts';
import { InProcessPlatform } from './in-process-platform.ts';
import { PlatformProcess } from './platform-process.ts';
import type { WindowPlatform } from './window-platform.ts';

export { expect, type Page, type WindowPlatform };

/** Lets the window load its other screens only when they are opened. For tests that discard their page. */
export async function withoutPrefetching(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { setTimeout: setRealTimeout } = globalThis;
    const setOtherTimeout = (work: () => void, ms?: number) => (ms === 5_000 ? 0 : setRealTimeout(work, ms));
    Object.assign(globalThis, { setTimeout: setOtherTimeout });
  });
}

/** Presses keys of a sequence, which the window forgets after a second, without waiting between them. */
export async function pressInTurn(page: Page, ...keys: string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}

interface Fixtures {
  /** Options of the platform. Without `containers`, it has no container engine. */
  startOptions: TerrariumOptions;
  /** True if the platform runs in a separate process, so that it can crash. */
  ownProcess: boolean;
  platform: WindowPlatform;
  /**
   * True if the test changes its page in a way that cannot be undone, such as its clock. The page is then not reused.
   */
  discardsPage: boolean;
}

/** The port of the previous test's platform. */
let lastPort = 0;
/**
 * The page of the previous test, with cleared storage. It stays on the origin of the window: from any other page, even a blank one,
 * the browser would change to another process and compile all scripts again, which is half of the time of a load.
 */
let reusablePage: Page | undefined;
/** Events whose listeners are removed before a page is reused. */
const PAGE_EVENTS = ['request', 'requestfailed', 'response', 'pageerror', 'console', 'dialog'];

/** A test with a separate platform with the demo world. It fails if a page sends a request to another origin or throws an error. */
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
    const options: TerrariumOptions = {
      rootPassword: 'terrarium',
      ...startOptions,
      // The programs of test images ignore the stop signal.
      containers: { engine: 'none', stopTimeoutS: 1, ...startOptions.containers },
    };
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
    // The browser reports a request, too, that a policy of the page kept it from sending.
    page.on('requestfailed', (request) => {
      const index = foreign.indexOf(request.url());
      if (index >= 0 && request.failure()?.errorText === 'csp') foreign.splice(index, 1);
    });
    page.on('pageerror', ({ message }) => faults.push(message));
    await use(platform);
    // An open window in another context would try to connect to the platform until the browser ends.
    const otherContexts = browser.contexts().filter((browserContext) => browserContext !== page.context());
    await Promise.all(otherContexts.map((browserContext) => browserContext.close()));
    if (!discardsPage && (await platform.leave(page))) reusablePage = page;
    await platform.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
    expect(foreign, 'requests that left the platform').toEqual([]);
    expect(faults, 'faults of scripts').toEqual([]);
  },
});
