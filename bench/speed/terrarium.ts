import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PLAIN_ENV } from './baselines.ts';
import { lambdaSource } from './handler.ts';

const KEY = { TERRARIUM_ROOT_API_KEY: 'bench', TERRARIUM_ROOT_API_SECRET: 'bench' };
export const AUTHORIZATION = `Basic ${Buffer.from('bench:bench').toString('base64')}`;

const START_LIMIT_MS = 60_000;

interface Created {
  id: string;
  name: string;
}

/** A lambda that an endpoint leads to. */
export interface Published {
  id: string;
  /** The endpoint's path below the gateway. */
  path: string;
}

interface Start {
  seed?: string;
  data?: string;
  more?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** The platform as it ships (`dist/`), everything on, its data on disk. */
export class Terrarium {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  readonly gatewayUrl: string;
  /** Signs in once. */
  readonly windowUrl: string;
  #environment: string | undefined;
  #providers: Created[] | undefined;
  #publishedCount = 0;

  private constructor(child: ChildProcess, ready: { baseUrl: string; gatewayUrl: string; windowUrl: string }) {
    this.child = child;
    this.baseUrl = ready.baseUrl;
    this.gatewayUrl = ready.gatewayUrl;
    this.windowUrl = ready.windowUrl;
  }

  /** Starts a platform without a container engine; by default, an empty world in a new data folder. */
  static async start(
    cli: string,
    folder: string,
    { seed = 'empty', data, more = [], env = {} }: Start = {},
  ): Promise<Terrarium> {
    const workFolder = mkdtempSync(join(folder, 'terrarium-'));
    const readyFile = join(workFolder, 'ready.json');
    const named = {
      data: data ?? join(workFolder, 'data'),
      seed,
      'ready-file': readyFile,
      'containers-engine': 'none',
    };
    const ports = ['base-port', 'gateway-port', 'crm-port', 'scm-port'].map((name) => [name, '0']);
    const options = [...Object.entries(named), ...ports].flatMap(([name, value]) => [`--${name}`, value ?? '']);
    const child = spawn(process.execPath, [cli, 'start', '--headless', ...options, ...more], {
      cwd: workFolder,
      // Started by npm, it ends with its parent process.
      env: { ...PLAIN_ENV, npm_lifecycle_event: 'bench', ...KEY, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output = (output + text).slice(-10_000);
      });
    }
    const ended = once(child, 'exit');
    const limit = wait(START_LIMIT_MS, undefined, { ref: false });
    while (!output.includes('Ctrl+C')) {
      const isLate = (await Promise.race([once(child.stdout, 'data'), ended, limit])) === undefined;
      if (isLate) child.kill('SIGKILL');
      if (isLate || child.exitCode !== null) throw new Error(`the platform did not start: ${output}`);
    }
    return new Terrarium(child, JSON.parse(readFileSync(readyFile, 'utf8')));
  }

  get port(): number {
    return Number(new URL(this.baseUrl).port);
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

  /** A lambda of 128 MB, unless configured otherwise, and an endpoint that leads to it. */
  async publish(properties: object = {}): Promise<Published> {
    const number = ++this.#publishedCount;
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

  /** Deletes lambdas, so that later calls do not have to end their processes first. */
  async remove(published: readonly Published[]): Promise<void> {
    for (const { id } of published) await this.ask('DELETE', `/meta/root/lambdas/${id}`);
  }

  /** The id of one of the platform's own providers. */
  async provider(name: string): Promise<string> {
    this.#providers ??= await this.#readProviders();
    const provider = this.#providers.find((candidate) => candidate.name === name);
    if (!provider) throw new Error(`there is no provider '${name}'`);
    return provider.id;
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

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    await once(this.child, 'exit');
  }
}
