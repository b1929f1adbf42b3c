import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isWrite } from '../../api/server/host-guard.ts';
import { PlatformError } from '../../model/errors.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import { owningOrganization } from '../../model/rules/hierarchy.ts';
import { SESSION_KEY_HEADER, sessionKeyIn } from '../../model/session-key.ts';
import { SHELL_COMMAND } from '../../model/shell-command.ts';
import { Lifetimes } from '../../system/lifetimes.ts';
import { findSignedIn, type PasswordCheck } from './authenticator.ts';
import type { Credentials } from './credentials.ts';

const CODE_LIFETIME_MS = 10 * 60_000;
/** More than one person opens in ten minutes. */
const MAX_CODES = 100;
const MAX_SESSIONS = 100;

/**
 * The users that may sign in, by the rules of the security service, and the credentials with which a session then calls
 * the platform.
 */
export interface SignIn extends PasswordCheck {
  credentials: Credentials;
}

export interface Session {
  userId: Uuid;
  token: string;
  endsAtMs: number;
  keyHash: Buffer | undefined;
  /** The account as which root views at present, read-only. */
  viewAs?: { userId: Uuid; token: string };
}

/** A session as stored on disk. It is useless without the cookie, of which only a hash is stored. */
export interface KeptSession {
  userId: Uuid;
  endsAtMs: number;
  keyHash?: string;
  /** Its token, sealed by the cookie; base64. */
  sealed: string;
  /** The account as which root views; `tokenId` is that of its token. */
  viewAs?: { userId: Uuid; sealed: string; tokenId: string };
}

/** Paths that a session handles itself, even while root views as another user. */
const OWN_PATHS = ['/inspect/session', '/inspect/session/view-as'];

/**
 * Sessions of the window, which outlive the process: a one-time code, or a name and password, become a cookie. The cookie represents a Bearer
 * token, which is stored encrypted with the cookie; what ends the token ends the session (D-216). Because browsers send a cookie to every port
 * of its host, the cookie is valid only with a key that the window stores for its origin (D-214). Other clients may omit the key.
 */
export class WindowSessions {
  readonly #signIn: SignIn;
  readonly #lifetimes: Lifetimes;
  readonly #steadyMs: () => number;
  /** When each code expires, by the steady clock. */
  readonly #codes = new Map<string, number>();
  readonly #log: KeyedLog<KeptSession>;

  constructor(signIn: SignIn, clock: { nowMs(): number; steadyMs(): number }, log: KeyedLog<KeptSession>) {
    this.#signIn = signIn;
    this.#steadyMs = () => clock.steadyMs();
    this.#lifetimes = new Lifetimes(signIn.credentials.tokenLifetimeMs, () => clock.nowMs(), this.#steadyMs);
    this.#log = log;
  }

  /** A code for one sign-in as root, within ten minutes. */
  createCode(): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.set(code, this.#steadyMs() + CODE_LIFETIME_MS);
    for (const oldest of this.#codes.keys()) if (this.#codes.size > MAX_CODES) this.#codes.delete(oldest);
    return code;
  }

  /** Begins a session, bound to the key if there is one. Throws 401 for a used or old code, and for a wrong name or password. */
  async begin(
    proof: { code: string } | { username: string; password: string },
    address: string | undefined,
    key?: string,
  ): Promise<{ id: string; session: Session }> {
    const userId = 'code' in proof ? this.#redeem(proof.code) : (await findSignedIn(this.#signIn, proof, address))?.id;
    if (userId === undefined) throw new PlatformError('invalid_credentials', 'unknown user or wrong password');
    const id = randomBytes(32).toString('base64url');
    const session = {
      userId,
      token: await tokenFor(this.#signIn, userId),
      endsAtMs: this.#lifetimes.begin(nameOf(id)).endsAtMs,
      keyHash: key === undefined ? undefined : hashOf(key),
    };
    await this.#keep(id, session);
    for (const [old, { endsAtMs }] of this.#log.entries()) {
      if (this.#log.size > MAX_SESSIONS || this.#lifetimes.isOver(old, endsAtMs)) await this.#forget(old);
      else break;
    }
    return { id, session };
  }

  /** Corrects the stored ends of sessions after the clock was set back; call it after the start and before the stop. */
  settle(): Promise<void> {
    return this.#lifetimes.settle(this.#log, {
      read: ({ endsAtMs }) => endsAtMs,
      replace: (session, endsAtMs) => ({ ...session, endsAtMs }),
    });
  }

  async #keep(id: string, session: Session): Promise<void> {
    const { userId, endsAtMs, keyHash, token, viewAs } = session;
    const tokenId = viewAs && this.#signIn.credentials.findToken(viewAs.token)?.id;
    await this.#log.put(nameOf(id), {
      userId,
      endsAtMs,
      ...(keyHash && { keyHash: keyHash.toString('hex') }),
      sealed: seal(token, id),
      ...(viewAs && tokenId && { viewAs: { userId: viewAs.userId, sealed: seal(viewAs.token, id), tokenId } }),
    });
  }

  /** The session of a request's cookie and key, if it has one that is still good. */
  find(request: IncomingMessage): Session | undefined {
    const id = cookieIn(request) ?? '';
    const stored = this.#log.get(nameOf(id));
    const token = stored && unseal(stored.sealed, id);
    if (!stored || token === undefined || this.#lifetimes.isOver(nameOf(id), stored.endsAtMs)) return undefined;
    const { userId, endsAtMs, viewAs } = stored;
    const viewToken = viewAs && unseal(viewAs.sealed, id);
    const keyHash = stored.keyHash === undefined ? undefined : Buffer.from(stored.keyHash, 'hex');
    if (!hasKey(request, keyHash)) return undefined;
    return {
      userId,
      token,
      endsAtMs,
      keyHash,
      ...(viewAs && viewToken !== undefined && { viewAs: { userId: viewAs.userId, token: viewToken } }),
    };
  }

  async #forget(hash: string): Promise<void> {
    const viewAs = this.#log.get(hash)?.viewAs;
    this.#lifetimes.forget(hash);
    if (viewAs) await this.#signIn.credentials.endToken(viewAs.tokenId);
    await this.#log.remove(hash);
  }

  /** Views as an account, read-only, or as root again. A new token closes terminals. Throws 403 for other users, 404 without a session. */
  async lookAs(request: IncomingMessage, userId: Uuid | undefined): Promise<Session> {
    const session = this.find(request);
    if (!session) throw new PlatformError('not_found', 'viewing as another user requires a session of the window');
    if (session.userId !== this.#signIn.view.root.owner)
      throw new PlatformError('forbidden', 'only the root user may view as another user');
    const { viewAs: before, ...ownSession } = session;
    const now: Session = {
      ...ownSession,
      token: await tokenFor(this.#signIn, session.userId),
      ...(userId !== undefined && { viewAs: { userId, token: await tokenFor(this.#signIn, userId) } }),
    };
    // Before anything is revoked, and on disk: a restart does not end the view.
    await this.#keep(cookieIn(request) ?? '', now);
    for (const old of [session, before]) if (old) await this.#signIn.credentials.revokeToken(old.token);
    return now;
  }

  async end(request: IncomingMessage): Promise<void> {
    const session = this.find(request);
    if (!session) return;
    await this.#forget(nameOf(cookieIn(request) ?? ''));
    await this.#signIn.credentials.revokeToken(session.token);
  }

  /** Adds the session's credentials to a request without any. Changes must come from our own page, which headers say (403). */
  validate(request: IncomingMessage): void {
    if (request.headers.authorization !== undefined) return;
    const session = this.find(request);
    if (!session) return;
    if (isWrite(request) && !isFromOurPage(request)) {
      throw new PlatformError(
        'origin_not_allowed',
        "changes with the window's session must come from the window's own pages",
      );
    }
    const { viewAs } = session;
    const isOfSession = OWN_PATHS.includes(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (viewAs && !isOfSession && isWrite(request))
      throw new PlatformError(
        'read_only_view',
        'you are viewing as another user, which is read-only. Leave that mode to make changes.',
      );
    // When root's token ends, the view as another user ends, too.
    const isView = viewAs && !isOfSession && this.#signIn.credentials.findToken(session.token) !== undefined;
    request.headers.authorization = `Bearer ${isView ? viewAs.token : session.token}`;
  }

  #redeem(code: string): Uuid {
    const endsAtMs = this.#codes.get(code);
    this.#codes.delete(code);
    if (endsAtMs !== undefined && endsAtMs > this.#steadyMs()) return this.#signIn.view.root.owner;
    throw new PlatformError(
      'invalid_credentials',
      `this code has already been used or has expired. To get a new address, run \`${SHELL_COMMAND} ui\`.`,
    );
  }
}

/** A token that the platform itself uses in the name of an account. */
export async function tokenFor(
  { view, credentials }: Pick<SignIn, 'view' | 'credentials'>,
  userId: Uuid,
): Promise<string> {
  const user = view.find(userId);
  if (!user) throw new PlatformError('invalid_credentials', 'the account was deleted');
  return credentials.issueToken(userId, owningOrganization(view, user).id);
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

function hasKey({ headers }: IncomingMessage, keyHash: Buffer | undefined): boolean {
  if (keyHash === undefined) return true;
  const key = headers[SESSION_KEY_HEADER.toLowerCase()] ?? sessionKeyIn(headers['sec-websocket-protocol']);
  return typeof key === 'string' && timingSafeEqual(hashOf(key), keyHash);
}

function nameOf(id: string): string {
  return hashOf(id).toString('hex');
}

const SEAL = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The key is derived from the cookie, with a different text than the cookie's hash. */
function keyOf(id: string): Buffer {
  return hashOf(`token of ${id}`);
}

function seal(token: string, id: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(SEAL, keyOf(id), iv);
  const content = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64');
}

/** Undefined for what this cookie did not seal. */
function unseal(sealed: string, id: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const decipher = createDecipheriv(SEAL, keyOf(id), bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function isFromOurPage({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  if (origin !== undefined) return URL.canParse(origin) && new URL(origin).host === host;
  return headers['sec-fetch-site'] === 'same-origin';
}
