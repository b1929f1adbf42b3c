import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import type { Change } from '../model/commit.ts';
import type { Invocation, LambdaCall } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import { LambdaService, type LambdaServiceOptions } from '../runtimes/lambdas/lambda-service.ts';
import { WorldIndex } from '../storage/world/world-index.ts';
import { record, rootId } from './small-world.ts';

/** Source of a handler that keeps 400 MB outside of the heap, and never ends. */
export const HOLD_BUFFERS = `const held = [];
  exports.run = async () => {
    while (held.length < 100) {
      held.push(Buffer.alloc(4e6, 1));
      await new Promise(setImmediate);
    }
    await new Promise(() => setInterval(() => {}, 1_000));
  };`;

/** A LambdaService with its folders and a small world whose changes it receives as from the store. */
export class TestLambdaService {
  readonly lambdas: LambdaService;
  readonly folder: string;
  readonly #world = new WorldIndex();
  #changes = 0;
  #outboundRules: OutboundRule[] = [];

  /** `fill` creates the resources that exist before the service starts. */
  static async start(
    options: Partial<LambdaServiceOptions> = {},
    fill: (world: TestLambdaService) => void = () => {},
  ): Promise<TestLambdaService> {
    const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-lambdas-'));
    const started = new TestLambdaService(folder, { childFile: inject('lambdaChildFile'), ...options }, fill);
    await started.lambdas.start();
    return started;
  }

  private constructor(
    folder: string,
    options: Partial<LambdaServiceOptions> & { childFile: string },
    fill: (world: TestLambdaService) => void,
  ) {
    this.folder = folder;
    this.put('root', null, 'Resource::Organization', {});
    fill(this);
    this.lambdas = new LambdaService({
      view: this.#world,
      addresses: () => ({ metaUrl: 'http://t/meta', securityUrl: 'http://t/security', gatewayUrl: 'http://t:1' }),
      nowMs: Date.now,
      scratchDir: path.join(folder, 'scratch'),
      ...options,
      outbound: { crm: 'catch', crmAddress: () => undefined, rules: () => this.#outboundRules, ...options.outbound },
    });
  }

  async stop(): Promise<void> {
    await this.lambdas.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Makes these the outbound rules, and waits until the processes have them. Each gets a new id, so its count of calls starts over. */
  async setOutboundRules(...rules: Omit<OutboundRule, 'id' | 'enabled'>[]): Promise<void> {
    this.#outboundRules = rules.map((fields) => ({ id: randomUUID(), enabled: true, ...fields }));
    await this.lambdas.applyRules();
  }

  /** Writes a resource like a commit; returns its id. */
  put(id: string, parent: string | null, type: string, properties: JsonObject): string {
    const before = this.#world.find(id);
    this.#changes += 1;
    const at = new Date(this.#changes).toISOString();
    const after = record('lambdas', `${type.split('::').at(-1)?.toLowerCase()}-${id.slice(0, 4)}`, {
      ...{ id, type, parent, properties },
      created: before?.created ?? { by: rootId, at },
      modified: { action: before ? 'update' : 'create', by: rootId, at },
    });
    this.#changed(before ? { before, after } : { after });
    return id;
  }

  /** Creates a lambda with inline source; returns its id. */
  lambda(code: string, properties: JsonObject = {}, parent = 'root'): string {
    return this.put(randomUUID(), parent, 'Resource::Node::Lambda', lambdaProperties(code, properties));
  }

  /** Updates the code and properties of a lambda. */
  change(id: string, code: string, properties: JsonObject = {}): void {
    this.put(id, 'root', 'Resource::Node::Lambda', lambdaProperties(code, properties));
  }

  /** @param isDurable false: as in a commit that is not on the disk yet, of which the service does not know */
  remove(id: string, isDurable = true): void {
    const before = this.#world.find(id);
    if (before && isDurable) this.#changed({ before });
    else if (before) this.#world.apply([{ before }]);
  }

  #changed(change: Change): void {
    this.#world.apply([change]);
    this.lambdas?.changed([change]);
  }

  /** Invokes a lambda with a body. */
  invoke(
    id: string,
    body: string | Uint8Array = '',
    context: Partial<LambdaCall['context']> = {},
    more: Pick<LambdaCall, 'stopsFirst'> = {},
  ): Promise<Invocation> {
    return this.lambdas.invoke(id, { ...callWith(body, context), ...more });
  }

  /** Creates a lambda and invokes it once. */
  run(code: string, properties: JsonObject = {}, body: string | Uint8Array = ''): Promise<Invocation> {
    return this.invoke(this.lambda(code, properties), body);
  }
}

function lambdaProperties(code: string, properties: JsonObject): JsonObject {
  return { runtime: 'nodejs', code_type: 'inline', code, handler: 'run', timeout: 60, ...properties };
}

/** An invocation as the gateway creates it. */
function callWith(body: string | Uint8Array = '', context: Partial<LambdaCall['context']> = {}): LambdaCall {
  return {
    executionId: randomUUID(),
    trigger: 'gateway',
    body: Buffer.from(body),
    context: { method: 'POST', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false, ...context },
  };
}

/** The result of a handler as text; fails with the reason if the invocation failed. */
export function resultOf({ outcome }: Invocation): string {
  if (!outcome.ok) throw new Error(`${outcome.failure}: ${outcome.message}`);
  return 'bytes' in outcome.value ? Buffer.from(outcome.value.bytes).toString() : '';
}

/** The failure of an invocation, as `kind: message`. */
export function failureOf({ outcome }: Invocation): string {
  return outcome.ok ? 'the invocation did not fail' : `${outcome.failure}: ${outcome.message}`;
}
