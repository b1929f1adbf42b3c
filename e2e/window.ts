import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import type { TerrariumOptions } from '../server/library/api.ts';
import { PlatformHere } from './platform-here.ts';
import { PlatformProcess } from './platform-process.ts';
import type { WindowPlatform } from './window-platform.ts';

export { expect, type Page, type WindowPlatform };

interface Fixtures {
  /** How the platform is set; unless `containers` say otherwise there is no container engine. */
  startOptions: TerrariumOptions;
  /** Does the platform have a process of its own, as on the command line? Only that one can crash. */
  ownProcess: boolean;
  platform: WindowPlatform;
}

/** Where the window of the test before was. */
let usualPort = 0;

/** Tests with a platform of their own: the demo world, no container engine. Nothing on any page may come from elsewhere. */
export const test = base.extend<Fixtures>({
  startOptions: [{}, { option: true }],
  ownProcess: [false, { option: true }],
  platform: async ({ startOptions, ownProcess, page }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
    const options: TerrariumOptions = { containers: { engine: 'none' }, ...startOptions };
    await writeFile(join(folder, 'terrarium.json'), JSON.stringify(options));
    const platform = ownProcess ? new PlatformProcess(folder, [], { cwd: folder }) : new PlatformHere(folder, options);
    usualPort = await platform.startAt(usualPort);
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
