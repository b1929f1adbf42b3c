import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLAIN_ENV } from './floors.ts';
import { lambdaSource } from './handler.ts';

const KEY = { TERRARIUM_ROOT_API_KEY: 'bench', TERRARIUM_ROOT_API_SECRET: 'bench' };
export const AUTHORIZATION = `Basic ${Buffer.from('bench:bench').toString('base64')}`;

interface Created {
  id: string;
  name: string;
}

/** A lambda that an endpoint leads to. */
export interface Published {
  id: string;
  /** Of the endpoint, below the gateway. */
  path: string;
}

/** The platform as it ships (`dist/`), everything on, its data on disk. */
export class Terrarium {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  readonly gatewayUrl: string;
  #environment: string | undefined;
  #providers: Created[] | undefined;
  #made = 0;

  private constructor(child: ChildProcess, { baseUrl, gatewayUrl }: { baseUrl: string; gatewayUrl: string }) {
    this.child = child;
    this.baseUrl = baseUrl;
    this.gatewayUrl = gatewayUrl;
  }

  /**
   * @param cli path of the command line
   * @param how.seed what a new world holds, nothing unless given
   * @param how.data where it is kept, a new folder unless given
   * @param how.more further options
   */
  static async start(
    cli: string,
    folder: string,
    how: { seed?: string; data?: string; more?: readonly string[] } = {},
  ): Promise<Terrarium> {
    const { seed = 'empty', data, more = [] } = how;
    const place = mkdtempSync(join(folder, 'terrarium-'));
    const readyFile = join(place, 'ready.json');
    const args = [
      'start',
      '--headless',
      '--data',
      data ?? join(place, 'data'),
      '--seed',
      seed,
      '--ready-file',
      readyFile,
    ];
    const ports = ['--base-port', '0', '--gateway-port', '0', '--crm-port', '0', '--scm-port', '0'];
    const child = spawn(process.execPath, [cli, ...args, ...ports, '--containers-engine', 'none', ...more], {
      cwd: place,
      // As a script of npm it ends when whoever started it does.
      env: { ...PLAIN_ENV, npm_lifecycle_event: 'bench', ...KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    const ended = once(child, 'exit');
    while (!said.includes('Ctrl+C')) {
      await Promise.race([once(child.stdout, 'data'), ended]);
      if (child.exitCode !== null) throw new Error(`the platform did not start: ${said}`);
    }
    return new Terrarium(child, JSON.parse(readFileSync(readyFile, 'utf8')));
  }

  get gatewayPort(): number {
    return Number(new URL(this.gatewayUrl).port);
  }

  async ask<T = Created>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: { Authorization: AUTHORIZATION, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    // As: a benchmark may trust what it measures.
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** A lambda of 128 MB, unless told otherwise, and an endpoint that leads to it. */
  async publish(properties: object = {}): Promise<Published> {
    const number = ++this.#made;
    const environment = await this.environment();
    const lambda = await this.ask('POST', `${environment}/lambdas`, {
      name: `lambda-${number}`,
      properties: {
        runtime: 'nodejs',
        code_type: 'code',
        code: lambdaSource(),
        handler: 'run',
        memory: 128,
        public: true,
        provider: { id: await this.provider('default-lambda') },
        ...properties,
      },
    });
    const api = await this.ask('POST', `${environment}/apis`, {
      name: `api-${number}`,
      properties: { provider: { id: await this.provider('default-gateway-manager'), locations: [] } },
    });
    await this.ask('POST', `/meta/root/apis/${api.id}/apiendpoints`, {
      name: 'e',
      properties: { resource: '/e', implementation_type: 'lambda', implementation_id: lambda.id },
    });
    return { id: lambda.id, path: `/api-${number}/e` };
  }

  /** The id of one of the platform's own providers. */
  async provider(name: string): Promise<string> {
    this.#providers ??= await this.#readProviders();
    const found = this.#providers.find((one) => one.name === name);
    if (!found) throw new Error(`there is no provider '${name}'`);
    return found.id;
  }

  async #readProviders(): Promise<Created[]> {
    await this.ask('POST', '/meta/root/providers/initialize');
    return this.ask('GET', '/meta/root/providers');
  }

  /** Path of an environment for all that is made. */
  async environment(): Promise<string> {
    if (this.#environment === undefined) {
      const workspace = await this.ask('POST', '/meta/root/workspaces', { name: 'bench' });
      const properties = { environment_type: 'development' };
      const { id } = await this.ask('POST', `/meta/root/workspaces/${workspace.id}/environments`, {
        name: 'bench',
        properties,
      });
      this.#environment = `/meta/root/environments/${id}`;
    }
    return this.#environment;
  }

  /** Calls a lambda without a body; resolves to what it answered and the milliseconds that took. */
  async call({ path }: Published): Promise<{ text: string; ms: number }> {
    const beganMs = performance.now();
    const response = await fetch(this.gatewayUrl + path);
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
    return { text, ms: performance.now() - beganMs };
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }
}
