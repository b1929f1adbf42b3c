import { expect, it } from 'vitest';
import { guardContents } from './guards.ts';
import { TestWindow } from './testing/window.ts';

it('a page navigates to pages of the platform only, and opens no window and no web view', () => {
  const { webContents } = new TestWindow({});
  const opened: string[] = [];
  guardContents(webContents, {
    isOurs: (url) => url.startsWith('http://terrarium.localhost:4700/'),
    openExternal: (url) => opened.push(url),
    act: () => false,
  });
  expect(webContents.follow('http://terrarium.localhost:4700/ui/home')).toBe(true);
  for (const url of ['https://foreign.example/', 'file:///etc/passwd']) {
    expect(webContents.follow(url), url).toBe(false);
    expect(webContents.follow(url, false), url).toBe(false);
    expect(webContents.redirect(url), url).toBe(false);
    expect(webContents.openHandler({ url }), url).toEqual({ action: 'deny' });
  }
  expect(webContents.attachWebview()).toBe(false);
  expect(opened).toEqual(['https://foreign.example/', 'https://foreign.example/']);
});
