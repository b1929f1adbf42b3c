import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowChoice } from './choose-window.ts';
import { openSignInPage, type SignInPage, showWindow } from './show-window.ts';

const WINDOW_URL = 'http://127.0.0.1:4700/ui/?code=a-code';

let home: string;
let pages: SignInPage[];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrarium home '));
  pages = [];
});
afterEach(async () => {
  for (const page of pages) await page.close();
  await rm(home, { recursive: true });
});

const openPage = async (env: Record<string, string> = { HOME: home }) => {
  const page = await openSignInPage(() => WINDOW_URL, env);
  pages.push(page);
  return { ...page, file: fileURLToPath(page.url) };
};
/** The URL that the page posts to. */
const actionOf = (text: string) => /action="([^"]+)"/.exec(text)?.[1] ?? '';
const post = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' });

describe('the page that signs a browser in', () => {
  it('redirects to the window once, and is removed then', async () => {
    const page = await openPage();
    const action = actionOf(await readFile(page.file, 'utf8'));
    const answer = await post(action);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, WINDOW_URL]);
    await page.used;
    await expect(stat(dirname(page.file))).rejects.toThrow(/ENOENT/);
    await expect(post(action)).rejects.toThrow();
  });

  it.runIf(process.platform !== 'win32')('can be read only by its user, and does not contain the code', async () => {
    const { file, url } = await openPage();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).not.toContain('a-code');
    expect(url).not.toContain('a-code');
  });

  it('redirects only requests with its secret', async () => {
    const { file, used } = await openPage();
    const action = actionOf(await readFile(file, 'utf8'));
    const { origin } = new URL(action);
    expect(new URL(action).pathname.length).toBeGreaterThan(30);
    for (const guess of [`${origin}/`, `${action}x`, `${origin}/?${action}`])
      expect((await post(guess)).status).toBe(404);
    // A program that prefetches addresses does not use up the page.
    expect((await fetch(action, { redirect: 'manual' })).status).toBe(404);
    expect((await post(action)).status).toBe(303);
    await used;
  });

  it('is removed if it is closed before a browser has opened it', async () => {
    const page = await openPage();
    await page.close();
    await page.close();
    expect(await readdir(home)).toEqual([]);
  });

  describe.runIf(process.platform === 'linux')('is readable for a browser that is a snap or a Flatpak', () => {
    it('in the downloads folder, or else in the home folder, but not in a hidden one', async () => {
      const inHome = await openPage();
      expect(dirname(dirname(inHome.file))).toBe(home);
      await mkdir(join(home, 'Downloads'));
      const inDownloads = await openPage();
      expect(dirname(dirname(inDownloads.file))).toBe(join(home, 'Downloads'));
      expect(inDownloads.file.slice(home.length)).not.toMatch(/\/[.]/);
    });

    it('in the temporary folder if there is no home folder', async () => {
      await writeFile(join(home, 'file'), '');
      for (const env of [{}, { HOME: '' }, { HOME: join(home, 'none') }, { HOME: join(home, 'file') }]) {
        expect(dirname(dirname((await openPage(env)).file))).toBe(tmpdir());
      }
    });
  });
});

describe.runIf(process.platform !== 'win32')('a browser', () => {
  const program = async (script: string) => {
    const path = join(home, 'browser');
    await writeFile(path, script);
    await chmod(path, 0o755);
    return path;
  };
  /** Opens the chosen window; resolves to the printed lines and to the page. */
  const show = async (window: WindowChoice, failsWithinMs?: number) => {
    const lines: string[] = [];
    const terminal = { print: (line: string) => void lines.push(line), env: { HOME: home } };
    const page = await showWindow(window, () => WINDOW_URL, terminal, failsWithinMs);
    if (page) pages.push(page);
    return { lines, page };
  };
  /** Opens the page like a browser; resolves to the browser's argument and the address of the redirect. */
  const SCRIPT = `#!${process.execPath}
    const { readFileSync, writeFileSync, renameSync } = require('node:fs');
    const [argument] = process.argv.slice(2);
    const [, action] = /action="([^"]+)"/.exec(readFileSync(new URL(argument.replace(/^--app=/, '')), 'utf8'));
    fetch(action, { method: 'POST', redirect: 'manual' }).then(({ headers }) => {
      writeFileSync(__dirname + '/part', JSON.stringify({ argument, location: headers.get('location') }));
      renameSync(__dirname + '/part', __dirname + '/seen');
    });`;

  it.each(['app', 'browser'] as const)(
    'that is a script (%s) gets the window by the page, and no code in its arguments',
    async (kind) => {
      const path = await program(SCRIPT);
      const line = 'Opening it.';
      const { page } = await show(
        kind === 'app' ? { kind, path, name: 'Chromium', line } : { kind, opener: [path], line },
      );
      const text = await vi.waitFor(() => readFile(join(home, 'seen'), 'utf8'), { timeout: 60_000 });
      const { argument, location } = JSON.parse(text);
      expect(location).toBe(WINDOW_URL);
      expect(argument).toBe(kind === 'app' ? `--app=${page?.url}` : page?.url);
      expect(argument).not.toContain('a-code');
      await page?.used;
      expect((await readdir(home)).sort()).toEqual(['browser', 'seen']);
    },
  );

  const NEVER_MS = 10 * 60_000;

  it('that does not exist or cannot run leaves no page behind', async () => {
    for (const opener of [[join(home, 'none')], [await program('#!/bin/sh\nexit 3\n')]]) {
      const { page, lines } = await show({ kind: 'browser', opener, line: 'Opening it.' }, NEVER_MS);
      expect(page).toBeUndefined();
      expect(lines.at(-1)).toMatch(
        /^The window was not opened: The default browser could not be opened \((spawn .* ENOENT|it ended with exit code 3)\)[.] Open the address above instead[.]$/,
      );
      expect((await readdir(home)).filter((name) => name !== 'browser')).toEqual([]);
    }
  });
});
