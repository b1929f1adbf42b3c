import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, type Page } from '@playwright/test';
import { packageFile } from '../server/package-file.ts';

const CLI = packageFile('dist/server/cli.js');
const READY_LIMIT_MS = 30_000;
/** For one attempt to load the window, and for all. */
const LOAD_LIMIT_MS = 10_000;
const OPEN_LIMIT_MS = 30_000;
const PORTS = ['--base-port', '0', '--gateway-port', '0'];

/** What else a command finds where it is started. */
interface Surroundings {
  /** The working folder. */
  cwd?: string;
  /** Variables besides those of this process. */
  env?: Readonly<Record<string, string>>;
}

/** A platform as a person starts it, and the window of it. */
export class WindowPlatform {
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly #surroundings: Surroundings;
  #server: ChildProcess | undefined;
  /** What the command wrote when it was ready. */
  ready = { baseUrl: '', gatewayUrl: '', windowUrl: '' };

  /** Where the window is: under a name of its own. */
  get windowOrigin(): string {
    return new URL(this.ready.windowUrl).origin;
  }

  constructor(folder: string, args: readonly string[], surroundings: Surroundings = {}) {
    this.#folder = folder;
    this.#args = args;
    this.#surroundings = surroundings;
  }

  /** Starts it, or starts it again with the same world at the same addresses. */
  async start(): Promise<void> {
    const file = join(this.#folder, 'ready.json');
    await rm(file, { force: true });
    const { baseUrl, gatewayUrl } = this.ready;
    const again = baseUrl && ['--base-port', new URL(baseUrl).port, '--gateway-port', new URL(gatewayUrl).port];
    const args = [...(again || PORTS), '--ready-file', file, '--data', join(this.#folder, 'data'), ...this.#args];
    const server = spawn(process.execPath, [CLI, 'start', '--headless', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: this.#surroundings.cwd,
      env: { ...process.env, ...this.#surroundings.env },
    });
    this.#server = server;
    let said = '';
    server.stderr.on('data', (text) => {
      said += text;
    });
    for (const untilMs = Date.now() + READY_LIMIT_MS; Date.now() < untilMs; await pause(50)) {
      if (server.exitCode !== null) break;
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) continue;
      this.ready = JSON.parse(text);
      return;
    }
    throw new Error(`the platform did not start: ${said}`);
  }

  /** Ends it at once, as a crash would, or as a person does. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  }

  /**
   * Opens the window signed in as root; `path` is below `/ui/`. Once more if need be: Chromium breaks off what it is loading when
   * the machine's networks change, as they do when another test makes containers.
   */
  async open(page: Page, path = ''): Promise<void> {
    await expect(() => this.#load(page, path)).toPass({ timeout: OPEN_LIMIT_MS });
  }

  async #load(page: Page, path: string): Promise<void> {
    const loaded = { timeout: LOAD_LIMIT_MS };
    const isNew = (await page.context().cookies()).length === 0;
    if (isNew) {
      await page.goto(this.ready.windowUrl);
      await expect(page.getByRole('heading', { name: 'Home', exact: true })).toBeVisible(loaded);
    }
    if (!isNew || path !== '') await page.goto(`${this.windowOrigin}/ui/${path}`);
    await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible(loaded);
    // Before that a key may come too early to be heard.
    await expect(page.getByRole('contentinfo')).toContainText('live', loaded);
  }

  /** Asks the platform what the signed-in window may ask. */
  async ask(page: Page, method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const answer = await this.fetch(page, method, path, body);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** What the platform answers to the signed-in window. */
  async fetch(page: Page, method: string, path: string, body?: unknown): Promise<Response> {
    // By the plain address: only browsers know the window's name everywhere.
    const { baseUrl } = this.ready;
    const cookies = await page.context().cookies(this.windowOrigin);
    return fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Origin: baseUrl,
        Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Posts to a public endpoint, `path` below the gateway's address. */
  async call(path: string, event?: unknown): Promise<Response> {
    return fetch(`${this.ready.gatewayUrl}${path}`, {
      ...(event !== undefined && {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(event),
      }),
    });
  }
}
