import { afterAll, beforeAll, expect } from 'vitest';
import { type Emulator, startEmulator } from '../platform/emulator.ts';
import { hashPassword } from '../services/security/passwords.ts';
import { send } from './checked-client.ts';
import { basic, bearer, type Reply } from './client.ts';

/** A separate platform for one test file, with clients of its resource service. */
export interface Platform {
  emulator: Emulator;
  /** The log output of the platform. */
  warnings: string[];
  /** A client as root; paths are below `{meta_url}`. */
  root: ApiClient;
  /** A client as a user, by password; the default is the random password of root. */
  as(name: string, password?: string): Promise<ApiClient>;
  /** Stops the platform; throws the first internal error that was returned as a 500. */
  stop(): Promise<void>;
}

/** A client of the resource service. */
export interface ApiClient {
  /** Sends any request with any headers; the path is below `{meta_url}`. */
  send(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Reply>;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
  put(path: string, body: unknown): Promise<Reply>;
  patch(path: string, operations: unknown): Promise<Reply>;
  delete(path: string): Promise<Reply>;
  /** Sends a POST and returns the record; throws unless the status is 201. */
  create(path: string, body: unknown): Promise<Reply['body']>;
}

/** Hooks of a platform whose start costs little: it starts no processes in advance, and hashes passwords in a hundredth of the usual time. */
export const QUICK_START = {
  spareProcesses: 0,
  hashPassword: (password: string) => hashPassword(password, 128),
};

/** Starts a platform in memory with an empty world, and without a container engine unless requested. */
export async function startPlatform(options: Parameters<typeof startEmulator>[0] = {}): Promise<Platform> {
  const faults: unknown[] = [];
  const warnings: string[] = [];
  const emulator = await startEmulator(
    // The programs of test images ignore the stop signal.
    { seed: 'empty', ...options, containers: { engine: 'none', stopTimeoutS: 1, ...options.containers } },
    {
      ...QUICK_START,
      onFault: (fault) => faults.push(fault),
      onWarning: (warning) => warnings.push(warning),
    },
  );
  const { apiKey, apiSecret = '' } = emulator.rootCredentials;
  return {
    emulator,
    warnings,
    root: clientFor(() => ({ metaUrl: emulator.metaUrl, auth: basic(apiKey, apiSecret) })),
    async as(username, password = emulator.rootCredentials.password ?? '') {
      const form = new URLSearchParams({ grant_type: 'password', username, password });
      const { status, body } = await send('POST', `${emulator.securityUrl}/root/oauth/issue`, { body: form });
      if (status !== 200) throw new Error(`no token for ${username}: ${JSON.stringify(body)}`);
      return clientFor(() => ({ metaUrl: emulator.metaUrl, auth: bearer(body.access_token) }));
    },
    async stop() {
      await emulator.stop();
      if (faults.length > 0) throw faults[0];
    },
  };
}

/**
 * A platform for the tests of a file or `describe` block: starts before the first test and stops after the last. The returned object can be
 * destructured immediately (`const { root } = sharedPlatform()`), and used in tests and hooks.
 */
export function sharedPlatform(options: Parameters<typeof startPlatform>[0] = {}): Platform {
  let started: Platform | undefined;
  const platform = (): Platform => {
    if (!started) throw new Error('the platform is not running yet. Use it in tests and hooks only.');
    return started;
  };
  beforeAll(async () => {
    started = await startPlatform(options);
  });
  afterAll(() => started?.stop());
  return {
    get emulator() {
      return platform().emulator;
    },
    get warnings() {
      return platform().warnings;
    },
    root: clientFor(() => {
      const { metaUrl, rootCredentials } = platform().emulator;
      return { metaUrl, auth: basic(rootCredentials.apiKey, rootCredentials.apiSecret ?? '') };
    }),
    as: (username, password) => platform().as(username, password),
    stop: () => platform().stop(),
  };
}

/** @param target address of the resource service and credentials of the caller, called for each request */
function clientFor(target: () => { metaUrl: string; auth: string }): ApiClient {
  const sendRequest: ApiClient['send'] = (method, path, options) => {
    const { metaUrl, auth } = target();
    return send(method, `${metaUrl}${path}`, { auth, ...options });
  };
  const call = (method: string) => (path: string, body?: unknown) => sendRequest(method, path, { body });
  const post = call('POST');
  return {
    send: sendRequest,
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
 * The pattern of an error response (D-180) for `toMatchObject`.
 *
 * @param pointer the only member in its details
 */
export function refusal(code: number, pointer?: string, message?: string) {
  const detail = { pointer, ...(message !== undefined && { message: expect.stringContaining(message) }) };
  return { status: code, body: { code, message: expect.any(String), ...(pointer && { details: [detail] }) } };
}
