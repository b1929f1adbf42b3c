import { z } from 'zod';
import { PlatformError } from '../model/errors.ts';
import { type Json, jsonIn } from '../model/json.ts';

/** How long a platform may take to answer. */
const ANSWER_TIMEOUT_MS = 30_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What one identifies oneself with; a key pair is a user whose name is a UUID. */
export type Credentials = { user: string; password: string } | { token: string };

/** A record, as far as the contract says what all of them have. */
const recordSchema = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  variables: z.record(z.string(), z.string()).optional(),
  properties: z.record(z.string(), z.json()),
});
export type PlatformRecord = z.output<typeof recordSchema>;
const refusalSchema = z.object({ message: z.string() });
const issuedSchema = z.object({ access_token: z.string() });

/**
 * A platform as any client knows it: by the resource service alone (spec, "Resource service"). What it answers is held against the
 * contract; everything else - no answer, half of one, another service - is a PlatformError 502, and what it refuses is 400 or 409.
 */
export class Platform {
  readonly metaUrl: string;
  readonly #authorization: string;

  constructor(metaUrl: string, authorization: string) {
    this.metaUrl = metaUrl.replace(/\/+$/, '');
    this.#authorization = authorization;
  }

  /**
   * @param fqon where a user who is named by a password is looked for
   * @throws PlatformError 400 for credentials that it does not know
   */
  static async signIn(metaUrl: string, credentials: Credentials, fqon: string): Promise<Platform> {
    if ('token' in credentials) return new Platform(metaUrl, `Bearer ${credentials.token}`);
    const { user, password } = credentials;
    if (UUID.test(user)) return new Platform(metaUrl, `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
    const url = `${metaUrl.replace(/\/+$/, '').replace(/\/meta$/, '/security')}/${fqon}/oauth/issue`;
    const body = new URLSearchParams({ grant_type: 'password', username: user, password });
    const { status, text } = await send(url, { method: 'POST', body });
    if (status >= 500) throw new PlatformError(502, `POST ${url} is answered ${status}: try again later`);
    const issued = issuedSchema.safeParse(jsonIn(text));
    if (status === 200 && issued.success) return new Platform(metaUrl, `Bearer ${issued.data.access_token}`);
    if (status === 200 || status === 404) throw notUnderstood(`POST ${url}`, status);
    throw new PlatformError(400, `${url} knows no user '${user}' with this password (${status})`);
  }

  list(path: string): Promise<PlatformRecord[]> {
    return this.#ask('GET', path, z.array(recordSchema));
  }

  get(path: string): Promise<PlatformRecord> {
    return this.#ask('GET', path, recordSchema);
  }

  /** Any JSON. Undefined where there is no such thing. */
  find<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
    return this.#ask('GET', path, schema).catch((failure: unknown) => {
      if (failure instanceof PlatformError && failure.status === 404) return undefined;
      throw failure;
    });
  }

  create(path: string, body: object): Promise<PlatformRecord> {
    return this.#ask('POST', path, recordSchema, body);
  }

  patch(path: string, operations: readonly { op: string; path: string; value?: Json }[]): Promise<PlatformRecord> {
    return this.#ask('PATCH', path, recordSchema, operations);
  }

  async #ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const url = `${this.metaUrl}${path}`;
    const headers = {
      accept: 'application/json',
      authorization: this.#authorization,
      ...(body && { 'content-type': 'application/json' }),
    };
    const { status, text } = await send(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const request = `${method} ${url}`;
    if (status === 401)
      throw new PlatformError(400, `${this.metaUrl} does not take these credentials; give those of an account there`);
    if (status >= 400) {
      const said = refusalSchema.safeParse(jsonIn(text)).data?.message ?? 'it does not say why';
      const means = status === 404 || status === 403 || status === 409 ? status : status < 500 ? 400 : 502;
      throw new PlatformError(means, `${request} is refused with ${status}: ${said}`);
    }
    const told = jsonIn(text);
    if (told === undefined) throw notUnderstood(request, status);
    const answer = schema.safeParse(told);
    if (answer.success) return answer.data;
    const [issue] = answer.error.issues;
    throw notUnderstood(request, status, issue && `/${issue.path.join('/')}: ${issue.message}`);
  }
}

async function send(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return { status: response.status, text: await response.text() };
  } catch (failure) {
    throw new PlatformError(502, `${init.method} ${url}: ${reasonOf(failure)}`, { cause: failure });
  }
}

function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure.name === 'TimeoutError') return `no answer within ${ANSWER_TIMEOUT_MS / 1000} s`;
  const { cause } = failure;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no host of that name';
  return `the answer broke off or none came: ${cause instanceof Error ? cause.message : failure.message}`;
}

function notUnderstood(request: string, status: number, where = 'no JSON of that form'): PlatformError {
  return new PlatformError(
    502,
    `${request} is answered ${status} with what the contract does not know (${where}): is it the resource service of a platform?`,
  );
}
