import { z } from 'zod';
import { type OutgoingRequest, requestText, within } from '../../api/client/send-request.ts';
import { COMMIT_HEADER } from '../../model/commit.ts';
import type { ErrorCode } from '../../model/error-codes.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import { withoutTrailing } from '../../model/host-names.ts';
import { type Json, jsonIn } from '../../model/json.ts';
import { isUuid } from '../../model/record.ts';

const TIMEOUT_MS = 30_000;
/** Longest part of an error message of another platform that is repeated. */
const MAX_REASON_CHARACTERS = 500;

/** Codes by the status of the destination's response. */
const REJECTION_CODES: Readonly<Record<number, ErrorCode>> = {
  403: 'forbidden',
  404: 'not_found',
  409: 'publish_conflict',
};

type LinkLocal = NonNullable<OutgoingRequest['linkLocal']>;

/** Credentials; a key pair is a user whose name is a UUID. */
export type Credentials = { user: string; password: string } | { token: string };

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

/** A client of a platform's resource service. Throws PlatformError with the platform's reason, or 502 for an unexpected response. */
export class Platform {
  readonly metaUrl: string;
  /** The commits that its responses named, if it is an emulator. */
  readonly commits: string[] = [];
  readonly #authorization: string;
  readonly #linkLocal: LinkLocal;

  constructor(metaUrl: string, authorization: string, linkLocal: LinkLocal) {
    this.metaUrl = withoutTrailing(metaUrl, '/');
    this.#authorization = authorization;
    this.#linkLocal = linkLocal;
  }

  /** Throws 400 for unknown credentials. @param fqon where a user with a password is looked for */
  static async signIn(
    metaUrl: string,
    credentials: Credentials,
    fqon: string,
    linkLocal: LinkLocal,
  ): Promise<Platform> {
    if ('token' in credentials) return new Platform(metaUrl, `Bearer ${credentials.token}`, linkLocal);
    const { user, password } = credentials;
    if (isUuid(user))
      return new Platform(metaUrl, `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`, linkLocal);
    const url = `${withoutTrailing(metaUrl, '/').replace(/\/meta$/, '/security')}/${fqon}/oauth/issue`;
    const body = String(new URLSearchParams({ grant_type: 'password', username: user, password }));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, text } = await send(url, { method: 'POST', headers, body, linkLocal });
    if (status >= 500)
      throw new PlatformError('destination_failed', `POST ${url} failed with ${status}. Try again later.`);
    const issued = issuedSchema.safeParse(jsonIn(text));
    if (status === 200 && issued.success) return new Platform(metaUrl, `Bearer ${issued.data.access_token}`, linkLocal);
    if (status === 200 || status === 404) throw unexpectedResponse(`POST ${url}`, status);
    throw new PlatformError('destination_rejected', `${url} rejects the user '${user}' or the password (${status})`);
  }

  list(path: string): Promise<PlatformRecord[]> {
    return this.#request('GET', path, z.array(recordSchema));
  }

  get(path: string): Promise<PlatformRecord> {
    return this.#request('GET', path, recordSchema);
  }

  /** Reads any JSON; undefined if it does not exist. */
  find<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
    return this.#request('GET', path, schema).catch((failure: unknown) => {
      if (failure instanceof PlatformError && failure.status === 404) return undefined;
      throw failure;
    });
  }

  create(path: string, body: object): Promise<PlatformRecord> {
    return this.#request('POST', path, recordSchema, body);
  }

  patch(path: string, operations: readonly { op: string; path: string; value?: Json }[]): Promise<PlatformRecord> {
    return this.#request('PATCH', path, recordSchema, operations);
  }

  async #request<T>(method: string, path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const url = `${this.metaUrl}${path}`;
    const headers = {
      accept: 'application/json',
      authorization: this.#authorization,
      ...(body && { 'content-type': 'application/json' }),
    };
    const { status, text, commit } = await send(url, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
      linkLocal: this.#linkLocal,
    });
    if (commit !== undefined) this.commits.push(commit);
    const request = `${method} ${url}`;
    if (status === 401)
      throw new PlatformError(
        'destination_rejected',
        `${this.metaUrl} rejects these credentials. Give the credentials of an account on that platform.`,
      );
    if (status >= 400) {
      const reason =
        refusalSchema.safeParse(jsonIn(text)).data?.message.slice(0, MAX_REASON_CHARACTERS) ?? 'no reason given';
      const code = REJECTION_CODES[status] ?? (status < 500 ? 'destination_rejected' : 'destination_failed');
      throw new PlatformError(code, `${request} failed with ${status}: ${reason}`);
    }
    const reported = jsonIn(text);
    if (reported === undefined) throw unexpectedResponse(request, status);
    const answer = schema.safeParse(reported);
    if (answer.success) return answer.data;
    const [issue] = answer.error.issues;
    throw unexpectedResponse(request, status, issue && `/${issue.path.join('/')}: ${issue.message}`);
  }
}

async function send(
  url: string,
  request: OutgoingRequest,
): Promise<{ status: number; text: string; commit: string | undefined }> {
  try {
    const { status, text, headers } = await requestText(url, { ...request, limits: within(TIMEOUT_MS) });
    if (status >= 300 && status < 400) throw new Error(`unexpected redirect with ${status}`);
    return { status, text, commit: headers[COMMIT_HEADER.toLowerCase()]?.toString() };
  } catch (failure) {
    throw new PlatformError('destination_failed', `${request.method} ${url}: ${reasonOf(failure)}`, { cause: failure });
  }
}

function unexpectedResponse(request: string, status: number, where = 'unexpected JSON'): PlatformError {
  return new PlatformError(
    'destination_failed',
    `${request} returned ${status} with an unexpected response (${where}). Check that the address is the resource service of a platform.`,
  );
}
