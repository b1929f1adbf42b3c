import crypto, { randomInt, randomUUID, timingSafeEqual } from 'node:crypto';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import { Lifetimes } from '../../system/lifetimes.ts';

/** The stored data of an API key, by the key. */
export interface KeyRecord {
  key: string;
  /** SHA-256 of the secret, hex. The secret is random enough that no slow hash is needed. */
  secretHash: string;
  accountId: Uuid;
  /** The organization it was made for (D-173). */
  orgId: Uuid;
  createdAtMs: number;
  disabled: boolean;
}

/** The stored data of an access token, by its SHA-256 in hex; the token itself is not stored. */
export interface TokenRecord {
  accountId: Uuid;
  orgId: Uuid;
  issuedAtMs: number;
  expiresAtMs: number;
  /** Set when the token was revoked; kept until it expires, so that its use is refused with the reason. */
  endedAtMs?: number;
}

interface CredentialsOptions {
  keys: KeyedLog<KeyRecord>;
  tokens: KeyedLog<TokenRecord>;
  nowMs(): number;
  /** The clock that decides when a token expires; the wall clock by default. */
  steadyMs?(): number;
  /** Life of a token (D-185); 8 hours by default. */
  tokenLifetimeMs?: number;
}

const TOKEN_LIFETIME_MS = 8 * 60 * 60 * 1000;
/** Number of expired tokens that are kept, newest first, so that their use is refused with the reason (D-181). */
const MAX_EXPIRED = 1_000;
const SECRET_LENGTH = 40;
/** Letters and digits only: a secret survives shells, URLs and form encoding as it is. */
const SECRET_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function newSecret(): string {
  return Array.from({ length: SECRET_LENGTH }, () => SECRET_ALPHABET[randomInt(SECRET_ALPHABET.length)]).join('');
}

function sha256(text: string): string {
  return crypto.hash('sha256', text, 'hex');
}

/** API keys and access tokens (D-170, D-173..D-175). They prove who an account is, not that it still exists or may be used. */
export class Credentials {
  readonly tokenLifetimeMs: number;
  readonly #options: CredentialsOptions;
  readonly #tokenLifetimes: Lifetimes;
  /** Time of the last use of each key, and of each token by its hash, in milliseconds since 1970. Kept only while the platform runs. */
  readonly #usedAtMs = new Map<string, number>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.tokenLifetimeMs = options.tokenLifetimeMs ?? TOKEN_LIFETIME_MS;
    this.#tokenLifetimes = new Lifetimes(this.tokenLifetimeMs, options.nowMs, options.steadyMs ?? options.nowMs);
  }

  /** A new token for an account; of the expired ones the oldest are dropped on this occasion. */
  async issueToken(accountId: Uuid, orgId: Uuid): Promise<string> {
    const token = randomUUID();
    const id = sha256(token);
    const { startsAtMs, endsAtMs } = this.#tokenLifetimes.begin(id);
    const record = { accountId, orgId, issuedAtMs: startsAtMs, expiresAtMs: endsAtMs };
    await Promise.all([this.#dropExpired(), this.#options.tokens.put(id, record)]);
    return token;
  }

  /** The record of a token, with what names it, unless it is unknown, ended or expired. */
  findToken(token: string): (TokenRecord & { id: string }) | undefined {
    const found = this.readToken(token);
    return 'reason' in found ? undefined : found;
  }

  /** Reads a token, or returns why it is not accepted. */
  readToken(token: string): (TokenRecord & { id: string }) | { reason: 'wrong' | 'ended' | 'expired' } {
    // Looked up by its hash, so the duration of the lookup reveals nothing about the token.
    const id = sha256(token);
    const record = this.#options.tokens.get(id);
    if (!record) return { reason: 'wrong' };
    if (record.endedAtMs !== undefined) return { reason: 'ended' };
    if (this.#tokenLifetimes.isOver(id, record.expiresAtMs)) return { reason: 'expired' };
    this.#usedAtMs.set(id, this.#options.nowMs());
    return { ...record, id };
  }

  revokeToken(token: string): Promise<boolean> {
    return this.endToken(sha256(token));
  }

  /** The tokens that are still good, oldest first, each with what names it: its hash, which proves nothing. */
  *tokens(): Generator<TokenRecord & { id: string; lastUsedAtMs: number | undefined }> {
    for (const [id, record] of this.#options.tokens.entries()) {
      if (this.#isGood(id, record)) yield { ...record, id, lastUsedAtMs: this.#usedAtMs.get(id) };
    }
  }

  async endToken(id: string): Promise<boolean> {
    const record = this.#options.tokens.get(id);
    if (!record || !this.#isGood(id, record)) return false;
    this.#usedAtMs.delete(id);
    await this.#options.tokens.put(id, { ...record, endedAtMs: this.#options.nowMs() });
    return true;
  }

  /** Ends the tokens of an account, and with them its sessions, but for one (D-216). @param keptId what names that one */
  async endTokensOf(accountId: Uuid, keptId?: string): Promise<void> {
    const ownTokens = [...this.tokens()].filter(
      (candidate) => candidate.accountId === accountId && candidate.id !== keptId,
    );
    await Promise.all(ownTokens.map(({ id }) => this.endToken(id)));
  }

  /** A new API key for an account. The secret is in this answer and nowhere else (D-173). */
  async createKey(accountId: Uuid, orgId: Uuid, pair = { key: randomUUID() as string, secret: newSecret() }) {
    const { key, secret } = pair;
    const createdAtMs = this.#options.nowMs();
    const record = { key, secretHash: sha256(secret), accountId, orgId, createdAtMs, disabled: false };
    await this.#options.keys.put(key, record);
    return pair;
  }

  /** All keys, oldest first, without what their secrets are checked by. */
  *keys(): Generator<Omit<KeyRecord, 'secretHash'> & { lastUsedAtMs: number | undefined }> {
    for (const [key, { secretHash: _, ...record }] of this.#options.keys.entries()) {
      yield { ...record, lastUsedAtMs: this.#usedAtMs.get(key) };
    }
  }

  findKey(key: string): KeyRecord | undefined {
    return this.#options.keys.get(key);
  }

  /** The record of a key whose secret this is, unless the key is disabled. */
  verifyKey(key: string, secret: string): KeyRecord | undefined {
    const record = this.#options.keys.get(key);
    const hashed = sha256(secret); // also without such a key, so that the response time does not reveal which keys exist
    if (!record || record.disabled) return undefined;
    if (!timingSafeEqual(Buffer.from(hashed), Buffer.from(record.secretHash))) return undefined;
    this.#usedAtMs.set(key, this.#options.nowMs());
    return record;
  }

  revokeKey(key: string): Promise<boolean> {
    this.#usedAtMs.delete(key);
    return this.#options.keys.remove(key);
  }

  /** Revokes all tokens and keys of an account; call it when its user is deleted (D-072). */
  async forgetUser(accountId: Uuid): Promise<void> {
    const keys = [...this.#options.keys.entries()].filter(([, record]) => record.accountId === accountId);
    await Promise.all([this.endTokensOf(accountId), ...keys.map(([key]) => this.revokeKey(key))]);
  }

  /** Revokes the credentials of deleted accounts: a crash can come between the two deletions. */
  async removeOrphaned(isKnown: (accountId: Uuid) => boolean): Promise<void> {
    const accounts = new Set(
      [...this.#options.keys.entries(), ...this.#options.tokens.entries()].map(([, { accountId }]) => accountId),
    );
    await Promise.all([...accounts].filter((id) => !isKnown(id)).map((id) => this.forgetUser(id)));
  }

  /** Puts root's configured or kept key pair in force, or a new one (D-175). */
  async ensureRootKey(root: { userId: Uuid; orgId: Uuid }, pair?: { key: string; secret: string }) {
    const isStored = pair && this.verifyKey(pair.key, pair.secret)?.accountId === root.userId;
    return isStored ? pair : this.createKey(root.userId, root.orgId, pair);
  }

  /** Corrects the stored ends of tokens after the clock was set back; call it after the start and before the stop. */
  settle(): Promise<void> {
    return this.#tokenLifetimes.settle(this.#options.tokens, {
      read: ({ expiresAtMs }) => expiresAtMs,
      replace: (record, expiresAtMs) => ({ ...record, expiresAtMs }),
    });
  }

  /** All tokens have the same lifetime, so the oldest ones expire first, and the loop ends at the first valid one. */
  async #dropExpired(): Promise<void> {
    const expiredIds: string[] = [];
    for (const [id, { expiresAtMs }] of this.#options.tokens.entries()) {
      if (!this.#tokenLifetimes.isOver(id, expiresAtMs)) break;
      expiredIds.push(id);
    }
    for (const id of expiredIds) this.#usedAtMs.delete(id);
    const surplusIds = expiredIds.slice(0, Math.max(0, expiredIds.length - MAX_EXPIRED));
    for (const id of surplusIds) this.#tokenLifetimes.forget(id);
    await Promise.all(surplusIds.map((id) => this.#options.tokens.remove(id)));
  }

  #isGood(id: string, { endedAtMs, expiresAtMs }: TokenRecord): boolean {
    return endedAtMs === undefined && !this.#tokenLifetimes.isOver(id, expiresAtMs);
  }
}
