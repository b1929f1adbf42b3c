import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { StoredResource } from '../model/record.ts';
import { AttemptLimiter } from '../services/security/attempt-limiter.ts';
import { createAuthenticator } from '../services/security/authenticator.ts';
import { Credentials } from '../services/security/credentials.ts';
import { createAuthorizer } from '../services/security/entitlements.ts';
import { hashPassword, verifyPassword } from '../services/security/passwords.ts';
import { securityRouter } from '../services/security/routes.ts';
import { MemoryLog } from './memory-log.ts';
import { TestWorld } from './security-world.ts';

/** The password of all test users. */
export const PASSWORD = 'correct horse';
const passwordHash = hashPassword(PASSWORD);

/** The response: status, parsed body, headers. */
export interface ServiceResponse {
  status: number;
  // Tests read it with matchers that check its members.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  headers: Headers;
}

/** The security service on a separate port, with a world in memory that requests do not change. Call `stop` at the end. */
export class TestSecurityService {
  readonly world = new TestWorld();
  nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  readonly credentials = new Credentials({ keys: new MemoryLog(), tokens: new MemoryLog(), nowMs: () => this.nowMs });
  readonly faults: unknown[] = [];
  readonly #server = createServer();
  url = '';

  static async start(limits = { tokenRequestsPerMinute: 100 }): Promise<TestSecurityService> {
    const service = new TestSecurityService();
    const { world, credentials } = service;
    world.change(world.rootUser.id, { properties: { password: await passwordHash } });
    const routes = securityRouter({
      view: world,
      credentials,
      authenticator: createAuthenticator(world, credentials),
      authorizer: createAuthorizer(world),
      accountChanges: () => express.Router(),
      prefix: 'Platform',
      addresses: () => ({ securityUrl: service.url }),
      version: '1.2.3',
      nowMs: () => service.nowMs,
      attempts: new AttemptLimiter(limits.tokenRequestsPerMinute, () => service.nowMs),
      keyAttempts: new AttemptLimiter(limits.tokenRequestsPerMinute, () => service.nowMs),
      isPassword: (password, user) => verifyPassword(password, user && String(user.properties.password)),
      onFault: (fault) => service.faults.push(fault),
    });
    service.#server.on('request', express().use('/security', routes)).listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    const { port } = service.#server.address() as AddressInfo; // listening on TCP
    service.url = `http://127.0.0.1:${port}/security`;
    return service;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** A user with the test password. */
  async addUser(name: string, organization = this.world.root): Promise<StoredResource> {
    return this.world.add('users', organization, { name, properties: { password: await passwordHash } });
  }

  async bearer(user: StoredResource): Promise<string> {
    return `Bearer ${await this.credentials.issueToken(user.id, this.world.root.id)}`;
  }

  async basic(user: StoredResource): Promise<string> {
    const { key, secret } = await this.credentials.createKey(user.id, this.world.root.id);
    return `Basic ${btoa(`${key}:${secret}`)}`;
  }

  /** Sends one request below `/security`: a form if `form` is set, otherwise JSON if `json` is. */
  async ask(
    request: string,
    options: { auth?: string; json?: unknown; form?: Record<string, string> | [string, string][] } = {},
  ): Promise<ServiceResponse> {
    const [method = 'GET', path = '/'] = request.split(' ');
    const headers: Record<string, string> = options.auth === undefined ? {} : { authorization: options.auth };
    if (options.json !== undefined) headers['content-type'] = 'application/json';
    const body = options.form
      ? new URLSearchParams(options.form)
      : options.json !== undefined && JSON.stringify(options.json);
    const response = await fetch(`${this.url}${path}`, { method, headers, ...(body && { body }) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
  }
}
