import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, type Page } from '@playwright/test';

/** For one attempt to load the window, and for all. */
const LOAD_LIMIT_MS = 10_000;
const OPEN_LIMIT_MS = 30_000;
/** Where the window stores the key of its cookie. */
const SESSION_KEY_ITEM = 'terrarium.session-key';
/** The least that can be asked for where the window is. */
const ICON_PATH = '/ui/icon.svg';

/** Resolves with true once the window shows the address, gone to as by its own links; with false where there is no window. */
const NAVIGATE = `(to) => new Promise((resolve) => {
  const { __TSR_ROUTER__: router } = globalThis;
  if (!router) return resolve(false);
  const unsubscribe = router.subscribe('onResolved', () => (unsubscribe(), resolve(true)));
  history.pushState(null, '', to);
})`;

/** Where a platform is: what `--ready-file` says, of which this is a part. */
interface Addresses {
  baseUrl: string;
  gatewayUrl: string;
  windowUrl: string;
}

/** Could one listen there? */
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

/** A platform whose world is on disk, and the window of it. */
export abstract class WindowPlatform {
  /** Since it was started first. */
  ready: Addresses = { baseUrl: '', gatewayUrl: '', windowUrl: '' };
  /** Any unless said otherwise. */
  #firstPort = 0;

  /** The folder that keeps its world. */
  abstract readonly dataDir: string;

  /** Starts it, or starts it again with the same world at the same addresses. */
  abstract start(): Promise<void>;

  /** Ends it at once, as a crash would, or as a person does; what has ended is left alone. */
  abstract end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;

  /** Where the window is: under a name of its own. */
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
   * Starts it for the first time with the window where another's was: to the browser it is the same place, whose scripts it has
   * kept. Elsewhere if somebody has taken that port meanwhile.
   *
   * @param preferredPort the port of that other one; 0 when there was none
   * @returns its own
   */
  async startAt(preferredPort: number): Promise<number> {
    if (preferredPort !== 0 && (await isFree(preferredPort))) this.#firstPort = preferredPort;
    await this.start();
    return this.ports.basePort;
  }

  /**
   * Opens the window signed in as root; `path` is below `/ui/`. A page where it is open already goes there as links lead, for
   * a tenth of what it takes to load the window again.
   */
  async open(page: Page, path = ''): Promise<void> {
    const isOpen = page.url().startsWith(`${this.windowOrigin}/ui/`) && (await page.context().cookies()).length > 0;
    if (!(isOpen && (await page.evaluate<boolean>(`(${NAVIGATE})(${JSON.stringify(`/ui/${path}`)})`)))) {
      return this.load(page, path);
    }
    await this.#waitUntilShown(page);
  }

  /**
   * Loads the window again, signed in as root. Once more if need be: Chromium breaks off what it is loading when the machine's
   * networks change, as they do when somebody makes containers; so journeys with an engine load all that they open.
   */
  async load(page: Page, path = ''): Promise<void> {
    const once = async () => {
      if ((await page.context().cookies()).length === 0) await this.#signIn(page);
      await page.goto(`${this.windowOrigin}/ui/${path}`);
      await this.#waitUntilShown(page);
    };
    await expect(once).toPass({ timeout: OPEN_LIMIT_MS });
  }

  async #waitUntilShown(page: Page): Promise<void> {
    const loaded = { timeout: LOAD_LIMIT_MS };
    await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible(loaded);
    // Before that a key may come too early to be heard.
    await expect(page.getByRole('contentinfo')).toContainText('live', loaded);
  }

  /** Opens the window for another user, in place of the one who is signed in. */
  async openAs(page: Page, username: string, password: string): Promise<void> {
    await page.context().clearCookies();
    await this.#signIn(page, { username, password });
    await page.goto(`${this.windowOrigin}/ui/`);
    await this.#waitUntilShown(page);
  }

  /** Begins a session as the page at the printed address does, whose load is saved. */
  async #signIn(
    page: Page,
    credentials: object = { code: new URL(this.ready.windowUrl).searchParams.get('code') },
  ): Promise<void> {
    const { baseUrl } = this.ready;
    const key = randomBytes(32).toString('hex');
    // Done before the code is used: an aborted load is repeated.
    await this.#goToOrigin(page);
    const begun = await fetch(`${baseUrl}/inspect/session`, {
      method: 'POST',
      headers: { Origin: baseUrl, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...credentials, key }),
    });
    const [name = '', value = ''] = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=') ?? [];
    if (begun.status !== 200 || value === '') throw new Error(`no session: ${begun.status} ${await begun.text()}`);
    const { hostname } = new URL(this.windowOrigin);
    await page
      .context()
      .addCookies([{ name, value, domain: hostname, path: '/', httpOnly: true, secure: false, sameSite: 'Strict' }]);
    await page.evaluate(`localStorage.setItem('${SESSION_KEY_ITEM}', '${key}')`);
  }

  /** Closes a window and its context, so that nothing is stored; false if the page cannot be opened there. */
  async leave(page: Page): Promise<boolean> {
    try {
      await Promise.all(
        page
          .context()
          .pages()
          .map((one) => one === page || one.close()),
      );
      await this.#goToOrigin(page);
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      return true;
    } catch {
      return false;
    }
  }

  /** Where the window is, without the window; the page of the test before is there already. */
  async #goToOrigin(page: Page): Promise<void> {
    const url = `${this.windowOrigin}${ICON_PATH}`;
    if (page.url() !== url) await page.goto(url, { timeout: LOAD_LIMIT_MS });
  }

  /** Asks the platform what the signed-in window may ask. */
  async send(page: Page, method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const answer = await this.fetch(page, method, path, body);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** What the platform answers to the signed-in window. */
  async fetch(page: Page, method: string, path: string, body?: unknown): Promise<Response> {
    // By the plain address: only browsers know the window's name everywhere.
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
