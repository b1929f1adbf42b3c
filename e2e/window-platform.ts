import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, type Page } from '@playwright/test';

/** Timeout of one attempt to load the window, which may have been aborted. */
const LOAD_LIMIT_MS = 10_000;
/** The local storage item in which the window keeps the key of its session cookie. */
const SESSION_KEY_ITEM = 'terrarium.session-key';
/** A small file of the window's origin. */
const ICON_PATH = '/ui/icon.svg';

/** Navigates with the router of the window; resolves to false if the page does not show the window. */
const NAVIGATE = `(to) => new Promise((resolve) => {
  const { __TSR_ROUTER__: router } = globalThis;
  if (!router) return resolve(false);
  const unsubscribe = router.subscribe('onResolved', () => (unsubscribe(), resolve(true)));
  history.pushState(null, '', to);
})`;

/** The addresses of a platform: a part of its ready file (`--ready-file`). */
interface Addresses {
  baseUrl: string;
  gatewayUrl: string;
  windowUrl: string;
}

/** Is the port free on loopback? */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** A platform with its world on disk, and its window. */
export abstract class WindowPlatform {
  /** Set at the first start. */
  ready: Addresses = { baseUrl: '', gatewayUrl: '', windowUrl: '' };
  /** 0: any free port. */
  #firstPort = 0;

  /** The data folder. */
  abstract readonly dataDir: string;

  /** Starts the platform, or restarts it with the same world and addresses. */
  abstract start(): Promise<void>;

  /** Kills or stops the platform; does nothing if it has already ended. */
  abstract end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;

  /** The origin of the window, which has its own host name. */
  get windowOrigin(): string {
    return new URL(this.ready.windowUrl).origin;
  }

  /** The ports to listen on. */
  protected get ports(): { basePort: number; gatewayPort: number } {
    const { baseUrl, gatewayUrl } = this.ready;
    const portOf = (url: string) => Number(new URL(url).port);
    if (baseUrl === '') return { basePort: this.#firstPort, gatewayPort: 0 };
    return { basePort: portOf(baseUrl), gatewayPort: portOf(gatewayUrl) };
  }

  /**
   * Starts the platform on the port of an earlier one if it is free, or else on another one. With the same origin, the browser
   * uses the compiled scripts that it has cached.
   *
   * @param preferredPort 0 if there was no earlier platform
   * @returns the port
   */
  async startAt(preferredPort: number): Promise<number> {
    if (preferredPort !== 0 && (await isFree(preferredPort))) this.#firstPort = preferredPort;
    try {
      await this.start();
    } catch (failure) {
      // Another program has taken the port in the meantime.
      if (this.#firstPort === 0 || !/EADDRINUSE|in use/.test(String(failure))) throw failure;
      this.#firstPort = 0;
      await this.start();
    }
    return this.ports.basePort;
  }

  /**
   * Opens the window signed in as root; `path` is below `/ui/`. If the page already shows the window, it navigates by the router,
   * in a tenth of the time of a load.
   */
  async open(page: Page, path = ''): Promise<void> {
    const isOpen = page.url().startsWith(`${this.windowOrigin}/ui/`) && (await page.context().cookies()).length > 0;
    if (!(isOpen && (await page.evaluate<boolean>(`(${NAVIGATE})(${JSON.stringify(`/ui/${path}`)})`)))) {
      return this.load(page, path);
    }
    await this.#waitUntilShown(page);
  }

  /**
   * Loads the window, signed in as root. Repeats a load that fails, because Chromium aborts loads when the machine's networks change,
   * for example when containers are created. So journeys with an engine load every page that they open.
   */
  async load(page: Page, path = ''): Promise<void> {
    const once = async () => {
      if ((await page.context().cookies()).length === 0) await this.#signIn(page);
      await page.goto(`${this.windowOrigin}/ui/${path}`);
      await this.#waitUntilShown(page, { timeout: LOAD_LIMIT_MS });
    };
    await expect(once).toPass({ timeout: 12 * LOAD_LIMIT_MS });
  }

  async #waitUntilShown(page: Page, loaded: { timeout?: number } = {}): Promise<void> {
    await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible(loaded);
    // Before that, the page may miss a key press.
    await expect(page.getByRole('contentinfo')).toContainText('live', loaded);
  }

  /** Signs in as another user and opens the window. */
  async openAs(page: Page, username: string, password: string): Promise<void> {
    await page.context().clearCookies();
    await this.#signIn(page, { username, password });
    await page.goto(`${this.windowOrigin}/ui/`);
    await this.#waitUntilShown(page);
  }

  /** Creates a session like the sign-in page, without loading it. */
  async #signIn(
    page: Page,
    credentials: object = { code: new URL(this.ready.windowUrl).searchParams.get('code') },
  ): Promise<void> {
    const { baseUrl } = this.ready;
    const key = randomBytes(32).toString('hex');
    // First, because the code works once, and an aborted load is repeated.
    await this.#goToOrigin(page);
    const sessionResponse = await fetch(`${baseUrl}/inspect/session`, {
      method: 'POST',
      headers: { Origin: baseUrl, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...credentials, key }),
    });
    const [name = '', value = ''] =
      (sessionResponse.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=') ?? [];
    if (sessionResponse.status !== 200 || value === '')
      throw new Error(`no session: ${sessionResponse.status} ${await sessionResponse.text()}`);
    const { hostname } = new URL(this.windowOrigin);
    await page
      .context()
      .addCookies([{ name, value, domain: hostname, path: '/', httpOnly: true, secure: false, sameSite: 'Strict' }]);
    await page.evaluate(`localStorage.setItem('${SESSION_KEY_ITEM}', '${key}')`);
  }

  /** Closes the other pages and clears the storage, so that the page can be reused; false if the page could not be loaded. */
  async leave(page: Page): Promise<boolean> {
    try {
      await Promise.all(
        page
          .context()
          .pages()
          .map((openPage) => openPage === page || openPage.close()),
      );
      await this.#goToOrigin(page);
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      return true;
    } catch {
      return false;
    }
  }

  /** Shows a page of the window's origin without the window. A reused page is there already. */
  async #goToOrigin(page: Page): Promise<void> {
    const url = `${this.windowOrigin}${ICON_PATH}`;
    if (page.url() !== url) await page.goto(url, { timeout: LOAD_LIMIT_MS });
  }

  /** Sends a request with the session of the window; returns the parsed response. */
  async send(page: Page, method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const answer = await this.fetch(page, method, path, body);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Sends a request with the session of the window. */
  async fetch(page: Page, method: string, path: string, body?: unknown): Promise<Response> {
    // By IP address: only browsers resolve the window's host name on every system.
    const { baseUrl } = this.ready;
    const cookies = await page.context().cookies(this.windowOrigin);
    const key = await page.evaluate<string>(`localStorage.getItem('${SESSION_KEY_ITEM}') ?? ''`);
    return fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Origin: baseUrl,
        Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        'X-Terrarium-Session-Key': key,
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
