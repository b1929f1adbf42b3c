import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { SESSION_KEY_HEADER } from '../model/session-key.ts';

const CODE_LIFETIME_MS = 10 * 60_000;
const SESSION_LIFETIME_MS = 12 * 60 * 60_000;
/** More than one person opens in ten minutes. */
const MAX_CODES = 100;
const MAX_SESSIONS = 100;
/** Of a session's methods that change nothing. */
const SAFE = ['GET', 'HEAD', 'OPTIONS'];

/** Who may sign in, and with what a session then speaks to the platform. */
export interface SignIn {
  /** The account that a code of the process itself stands for: root. */
  owner(): Uuid;
  /** The account of that name and password; undefined when they are wrong. Counts failures, and throws 429 for too many. */
  byPassword(username: string, password: string, address: string | undefined): Promise<Uuid | undefined>;
  /** A Bearer token of the account. */
  tokenFor(userId: Uuid): Promise<string>;
  /** The token of a session that is over is good for nothing. */
  endToken(token: string): Promise<unknown>;
}

export interface Session {
  userId: Uuid;
  token: string;
  endsAtMs: number;
  /** Hash of the key that it is bound to, if it is. */
  keyHash: Buffer | undefined;
}

/**
 * Sessions of the window, kept in memory: a one-time code of the printed address, or name and password, become a cookie that no
 * script reads and no other site sends. The cookie stands for a Bearer token, which never leaves the process.
 *
 * Browsers send a cookie to every port of its host, so whoever publishes a container's port gets it from a person who looks there.
 * The window therefore binds its session to a key that it makes itself and keeps for its own origin, port included: cookie and
 * key only go together (D-214). A client that is no browser, and so sends its cookie to nobody else, may leave the key out.
 */
export class WindowSessions {
  readonly #signIn: SignIn;
  readonly #nowMs: () => number;
  /** End of life by code. */
  readonly #codes = new Map<string, number>();
  readonly #sessions = new Map<string, Session>();

  constructor(signIn: SignIn, nowMs: () => number) {
    this.#signIn = signIn;
    this.#nowMs = nowMs;
  }

  /** A code for one sign-in as root, within ten minutes. */
  createCode(): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.set(code, this.#nowMs() + CODE_LIFETIME_MS);
    dropOldest(this.#codes, MAX_CODES);
    return code;
  }

  /**
   * Begins a session of a client at that address, bound to the key if there is one. Throws 401 for a code that is used or too old,
   * and for a wrong name or password.
   */
  async begin(
    proof: { code: string } | { username: string; password: string },
    address: string | undefined,
    key?: string,
  ): Promise<{ id: string; session: Session }> {
    const userId =
      'code' in proof
        ? this.#redeem(proof.code)
        : await this.#signIn.byPassword(proof.username, proof.password, address);
    if (userId === undefined) throw new PlatformError(401, 'no such user, or a wrong password');
    const id = randomBytes(32).toString('base64url');
    const session = {
      userId,
      token: await this.#signIn.tokenFor(userId),
      endsAtMs: this.#nowMs() + SESSION_LIFETIME_MS,
      keyHash: key === undefined ? undefined : hashOf(key),
    };
    this.#sessions.set(id, session);
    dropOldest(this.#sessions, MAX_SESSIONS);
    return { id, session };
  }

  /** The session of a request's cookie and key, if it has one that is still good. */
  find(request: IncomingMessage): Session | undefined {
    const id = cookieIn(request);
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (!session || id === undefined || !hasKeyOf(session, request)) return undefined;
    if (session.endsAtMs > this.#nowMs()) return session;
    this.#sessions.delete(id);
    return undefined;
  }

  /** Ends the session of a request, and with it its token. */
  async end(request: IncomingMessage): Promise<void> {
    const session = this.find(request);
    if (!session) return;
    this.#sessions.delete(cookieIn(request) ?? '');
    await this.#signIn.endToken(session.token);
  }

  /**
   * Gives a request that has no credentials of its own those of its session. One that changes something has to come from a page
   * of ours: a browser says so, and other sites cannot make it lie. Throws 403.
   */
  admit(request: IncomingMessage): void {
    if (request.headers.authorization !== undefined) return;
    const session = this.find(request);
    if (!session) return;
    if (!SAFE.includes(request.method ?? '') && !isFromOurPage(request)) {
      throw new PlatformError(403, "a change by the window's session has to come from the window's own pages");
    }
    request.headers.authorization = `Bearer ${session.token}`;
  }

  #redeem(code: string): Uuid {
    const endsAtMs = this.#codes.get(code);
    this.#codes.delete(code);
    if (endsAtMs !== undefined && endsAtMs > this.#nowMs()) return this.#signIn.owner();
    throw new PlatformError(401, 'this code was used already or is too old: get a new address with `terrarium ui`');
  }
}

/** Name of the cookie: ports of one host share their cookies, so each has its own. */
export function cookieName({ socket }: IncomingMessage): string {
  return `terrarium_session_${socket.localPort ?? 0}`;
}

function cookieIn(request: IncomingMessage): string | undefined {
  const name = cookieName(request);
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

function hasKeyOf({ keyHash }: Session, { headers }: IncomingMessage): boolean {
  if (keyHash === undefined) return true;
  const key = headers[SESSION_KEY_HEADER.toLowerCase()];
  return typeof key === 'string' && timingSafeEqual(hashOf(key), keyHash);
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function isFromOurPage({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  if (origin !== undefined) return URL.canParse(origin) && new URL(origin).host === host;
  return headers['sec-fetch-site'] === 'same-origin';
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
