import { expect } from 'vitest';
import { type Emulator, startEmulator } from '../server/emulator.ts';
import { send } from './checked-client.ts';
import { basic, bearer, type Reply } from './client.ts';

/** A platform of one test file's own, and the voices of those who speak to its resource service. */
export interface Platform {
  emulator: Emulator;
  /** What the platform has said in its log. */
  warnings: string[];
  /** Speaks as root; paths are below `{meta_url}`. */
  root: Voice;
  /** Speaks as a user, by password. */
  as(name: string, password: string): Promise<Voice>;
  /** Stops the platform; throws the first fault of the emulator that any request was answered with a bare 500 for. */
  stop(): Promise<void>;
}

/** One caller of the resource service. */
export interface Voice {
  /** Any request with any headers; the path is below `{meta_url}`. */
  send(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Reply>;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
  put(path: string, body: unknown): Promise<Reply>;
  patch(path: string, operations: unknown): Promise<Reply>;
  delete(path: string): Promise<Reply>;
  /** Posts what has to succeed and gives back the record; throws unless the answer is 201. */
  create(path: string, body: unknown): Promise<Reply['body']>;
}

/**
 * Starts a platform in memory with an empty world, and no container engine unless one is asked for. It starts no processes ahead:
 * most lambdas here are records that nobody calls.
 */
export async function startPlatform(options: Parameters<typeof startEmulator>[0] = {}): Promise<Platform> {
  const faults: unknown[] = [];
  const warnings: string[] = [];
  const emulator = await startEmulator(
    { seed: 'empty', containers: { engine: 'none' }, ...options },
    { spareProcesses: 0, onFault: (fault) => faults.push(fault), onWarning: (warning) => warnings.push(warning) },
  );
  const { apiKey, apiSecret = '' } = emulator.rootCredentials;
  return {
    emulator,
    warnings,
    root: voiceOf(emulator, basic(apiKey, apiSecret)),
    async as(username, password) {
      const form = new URLSearchParams({ grant_type: 'password', username, password });
      const { status, body } = await send('POST', `${emulator.securityUrl}/root/oauth/issue`, { body: form });
      if (status !== 200) throw new Error(`no token for ${username}: ${JSON.stringify(body)}`);
      return voiceOf(emulator, bearer(body.access_token));
    },
    async stop() {
      await emulator.stop();
      if (faults.length > 0) throw faults[0];
    },
  };
}

function voiceOf({ metaUrl }: Emulator, auth: string): Voice {
  const call = (method: string) => (path: string, body?: unknown) => send(method, `${metaUrl}${path}`, { auth, body });
  const post = call('POST');
  return {
    send: (method, path, options) => send(method, `${metaUrl}${path}`, { auth, ...options }),
    get: call('GET'),
    post,
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
    async create(path, body) {
      const { status, body: record } = await post(path, body);
      if (status !== 201) throw new Error(`POST ${path} is ${status}: ${JSON.stringify(record)}`);
      return record;
    },
  };
}

/**
 * What a refusal looks like (D-180), for `toMatchObject`.
 *
 * @param pointer the one member that its details name
 */
export function refusal(code: number, pointer?: string, said?: string) {
  const detail = { pointer, ...(said !== undefined && { message: expect.stringContaining(said) }) };
  return { status: code, body: { code, message: expect.any(String), ...(pointer && { details: [detail] }) } };
}
