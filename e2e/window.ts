import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import { WindowPlatform } from './window-platform.ts';

export { expect, type Page, WindowPlatform };

interface Fixtures {
  /** What the command line is given besides ports and data folder. */
  startArgs: readonly string[];
  platform: WindowPlatform;
}

/** Tests with a platform of their own: the demo world, no container engine. Nothing on any page may come from elsewhere. */
export const test = base.extend<Fixtures>({
  startArgs: [['--containers-engine', 'none'], { option: true }],
  platform: async ({ startArgs, page }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
    const platform = new WindowPlatform(folder, startArgs);
    await platform.start();
    const foreign: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== platform.windowOrigin) foreign.push(request.url());
    });
    page.on('pageerror', ({ message }) => faults.push(message));
    await use(platform);
    await platform.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
    expect(foreign, 'requests that left the platform').toEqual([]);
    expect(faults, 'faults of scripts').toEqual([]);
  },
});
