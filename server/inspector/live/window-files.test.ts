import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenAt } from '../../api/server/listening.ts';
import { windowFiles } from './window-files.ts';

let packages: string;
let server: Server;
let base: string;

beforeAll(async () => {
  packages = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
  // Where pnpm puts a package; npx and git worktrees use folders like it.
  const folder = join(packages, '.pnpm', 'dist', 'renderer');
  await mkdir(join(folder, 'assets'), { recursive: true });
  await writeFile(join(folder, 'index.html'), 'the page');
  await writeFile(join(folder, '.build.json'), 'not public');
  await writeFile(join(folder, 'icon.svg'), 'the icon');
  await writeFile(join(folder, 'assets', 'main.js'), 'the script');
  server = createServer(express().use('/ui', windowFiles(folder)));
  base = `http://127.0.0.1:${(await listenAt(server, { host: '127.0.0.1', port: 0 })).port}`;
});
afterAll(async () => {
  server?.closeAllConnections();
  server?.close();
  await rm(packages, { recursive: true, force: true });
});

describe('Files of a package below a folder whose name begins with a dot', () => {
  it.each([
    ['/ui/', 'the page'],
    ['/ui', 'the page'],
    ['/ui/invocations/any?tab=logs', 'the page'],
    ['/ui/icon.svg', 'the icon'],
    ['/ui/assets/main.js', 'the script'],
  ])('are sent at %s', async (path, text) => {
    const reply = await fetch(base + path);
    expect(reply.status).toBe(200);
    expect(await reply.text()).toBe(text);
  });

  it('are not sent when their own name begins with a dot', async () => {
    expect(await (await fetch(`${base}/ui/.build.json`)).text()).toBe('the page');
  });
});
