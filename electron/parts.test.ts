import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pathOfLink } from './deep-link.ts';
import { applicationMenu } from './menu.ts';
import { messagePage, RETRY_URL } from './message-page.ts';
import { LastLines, restartDelayMs } from './server-supervisor.ts';
import { placeWindow, readWindowState } from './window-state.ts';

it.each([
  ['terrarium://resources/4711?tab=log', '/ui/resources/4711?tab=log'],
  ['terrarium://home', '/ui/home'],
  ['terrarium:', '/ui/'],
  ['terrarium://leads?code=stolen&q=a%20b', '/ui/leads?q=a+b'],
  ['https://leads', undefined],
  ['terrarium://user:password@leads', undefined],
  ['terrarium://leads:99/x', undefined],
  ['terrarium://leads/%2e%2e%2fmeta', undefined],
  ['terrarium://leads/<script>', undefined],
  [`terrarium://leads/${'x'.repeat(3_000)}`, undefined],
  ['terrarium', undefined],
])('the link %s opens %s', (link, path) => {
  expect(pathOfLink(link)).toBe(path);
});

it('a link with .. cannot leave the window', () => {
  for (const link of ['terrarium://a/../../meta', 'terrarium://../meta', 'terrarium:///../meta', 'terrarium:..']) {
    expect(pathOfLink(link) ?? '/ui/').toMatch(/^\/ui\/(?!.*[.][.])/);
  }
});

it('each crash doubles the delay of the restart, up to a limit; old crashes do not count', () => {
  const delays = [1, 2, 3, 4, 5, 6].map((count) => restartDelayMs(Array(count).fill(1_000)));
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, undefined]);
  expect(restartDelayMs([0, 1, 2, 3, 4, 60_005])).toBe(500);
});

it('the last lines are kept without colors, however the output is split', () => {
  const lines = new LastLines(3);
  for (const piece of ['one\ntwo\nth', 'ree\r\n\u001b[', '1mfo', 'ur\u001b[22m']) lines.add(piece);
  expect(lines.all()).toEqual(['two', 'three', 'four']);
});

it('a message page escapes its text and runs no script', () => {
  const page = decodeURIComponent(
    messagePage({ title: '<b>', text: '"&\'', output: ['<script>x</script>'], canRetry: true }),
  );
  expect(page).not.toMatch(/<script|<b>/);
  expect(page).toContain('&#60;script&#62;');
  expect(page).toContain("default-src 'none'");
  expect(page).toContain(RETRY_URL);
});

const laptop = { x: 0, y: 25, width: 1280, height: 775 };
const wide = { x: 1280, y: 0, width: 2560, height: 1440 };

it.each([
  [
    'at its last position',
    { x: 1500, y: 100, width: 1600, height: 1000 },
    [laptop, wide],
    { x: 1500, y: 100, width: 1600, height: 1000 },
  ],
  [
    'on another display if its own is disconnected',
    { x: 1500, y: 100, width: 1600, height: 1000 },
    [laptop],
    { width: 1280, height: 775 },
  ],
  [
    'below the bar at the top',
    { x: 10, y: -40, width: 1000, height: 700 },
    [laptop],
    { x: 10, y: 25, width: 1000, height: 700 },
  ],
  ['with a minimum size', { x: 10, y: 50, width: 20, height: 20 }, [laptop], { width: 960, height: 600 }],
])('a window opens %s', (_where, bounds, workAreas, expected) => {
  expect(placeWindow({ bounds, isMaximized: false }, workAreas)).toEqual(expected);
});

it('an invalid file is ignored', () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-place-'));
  const file = join(folder, 'window.json');
  for (const text of ['', '{}', '{"bounds":{"x":1e99,"y":0,"width":-1,"height":5},"isMaximized":true}']) {
    writeFileSync(file, text);
    expect(readWindowState(file)).toBeUndefined();
  }
  rmSync(folder, { recursive: true });
  expect(placeWindow(undefined, [laptop])).toEqual({ width: 1440, height: 900 });
});

it('no item of a menu takes a key combination of macOS', () => {
  const addresses = { baseUrl: '', metaUrl: '', securityUrl: '', gatewayUrl: '', windowUrl: '' };
  const noop = () => undefined;
  const actions = { goTo: noop, openInBrowser: noop, openDocs: noop, copy: noop, showWindow: noop };
  const menu = applicationMenu(
    'darwin',
    { phase: 'running', addresses },
    { ...actions, restartServer: noop, quit: noop },
  );
  // Cmd+Shift+3, 4 and 5 take pictures of the screen.
  expect(JSON.stringify(menu)).not.toMatch(/Shift\+[345]"/);
});
