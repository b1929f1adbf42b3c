import { createServer } from 'node:http';
import express from 'express';
import { closeWithin, listenAt } from '../api/server/listening.ts';
import type { StoredResource } from '../model/record.ts';
import { AttemptLimiter } from '../services/security/attempt-limiter.ts';
import { createAuthenticator } from '../services/security/authenticator.ts';
import { Credentials } from '../services/security/credentials.ts';
import { createAuthorizer } from '../services/security/entitlements.ts';
import { hashPassword, verifyPassword } from '../services/security/passwords.ts';
import { securityRouter } from '../services/security/routes.ts';
import { type Reply, send } from './client.ts';
import { MemoryLog } from './memory-log.ts';
import { TestWorld } from './test-world.ts';

/** The password of all test users. */
export const PASSWORD = 'correct horse';
const passwordHash = hashPassword(PASSWORD);

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
    service.#server.on('request', express().use('/security', routes));
    const { port } = await listenAt(service.#server, { host: '127.0.0.1', port: 0 });
    service.url = `http://127.0.0.1:${port}/security`;
    return service;
  }

  stop(): Promise<void> {
    return closeWithin(this.#server, 0);
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
  ask(
    request: string,
    { auth, json, form }: { auth?: string; json?: unknown; form?: Record<string, string> | [string, string][] } = {},
  ): Promise<Reply> {
    const [method = 'GET', path = '/'] = request.split(' ');
    return send(method, `${this.url}${path}`, { auth, body: form ? new URLSearchParams(form) : json });
  }
}
