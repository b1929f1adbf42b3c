import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import type { StoredResult } from '../gateway/async-results.ts';
import { ContainerProxy } from '../gateway/container-proxy.ts';
import { Gateway, type GatewayOptions } from '../gateway/gateway.ts';
import type { Caller } from '../model/caller.ts';
import type { Change } from '../model/commit.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import type { Invocation, LambdaCall, LambdaValue, Outcome } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredResource, Uuid } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { WorldIndex } from '../storage/world/world-index.ts';
import { MemoryLog } from './memory-log.ts';
import { record, smallWorld } from './small-world.ts';

export const ok = (value: LambdaValue): Outcome => ({ ok: true, value });
export const text = (written: string): Outcome => ok({ kind: 'text', bytes: Buffer.from(written) });
export const json = (value: unknown): Outcome => ok({ kind: 'json', bytes: Buffer.from(JSON.stringify(value)) });

/** A record of an invocation with that outcome. */
export function invocation(lambdaId: Uuid, executionId: Uuid, outcome: Outcome, accept?: string): Invocation {
  const times = { acceptedAtMs: 1, startedAtMs: 1, finishedAtMs: 2 };
  const rest = { lambdaName: 'fake', trigger: 'gateway' as const, cold: false, logs: [], outbound: [] };
  return { executionId, lambdaId, outcome, ...times, ...rest, ...(accept !== undefined && { accept }) };
}

/** The response for a client. */
export interface GatewayResponse {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
  // Tests read bodies of any shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  json: any;
}

export type Handler = (call: LambdaCall) => Outcome | Promise<Outcome>;

const NO_ENGINE = { serving: () => [], unavailableReason: () => 'no container engine is attached' };

/** A running gateway with a world to fill, functions as lambdas, and named callers. */
export class TestGateway {
  readonly world = WorldIndex.indexOf(Object.values(smallWorld().resources));
  readonly log: MemoryLog<StoredResult>;
  readonly calls: LambdaCall[] = [];
  readonly traffic: ExchangeRecord[] = [];
  readonly faults: unknown[] = [];
  /** Messages of the platform in the logs of lambdas. */
  readonly logged: string[] = [];
  /** Authorization header to caller. */
  readonly callers = new Map<string, Caller>();
  /** `action resourceId` of the permissions that all callers have. */
  readonly rights = new Set<string>();
  readonly refusals = new Map<Uuid, Outcome>();
  readonly gateway: Gateway;
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  port = 0;
  readonly #exchanges = new EventEmitter();
  readonly #handlers = new Map<Uuid, { handler: Handler; accept: string | undefined }>();

  constructor(options: Partial<GatewayOptions> = {}, log = new MemoryLog<StoredResult>()) {
    this.log = log;
    this.gateway = new Gateway({
      view: this.world,
      containers: new ContainerProxy({ directory: NO_ENGINE, steadyMs: () => this.nowMs }),
      results: this.log,
      invoker: {
        invoke: async (lambdaId, call) => {
          this.calls.push(call);
          const lambda = this.#handlers.get(lambdaId);
          const notFound: Outcome = {
            ok: false,
            failure: 'deleted',
            message: 'the lambda does not exist',
            value: { kind: 'nothing' },
          };
          return invocation(lambdaId, call.executionId, (await lambda?.handler(call)) ?? notFound, lambda?.accept);
        },
        refusal: (lambdaId) => this.refusals.get(lambdaId),
        reserveSlot: () => () => {},
        logMessage: (_lambdaId, text) => void this.logged.push(text),
      },
      authenticator: {
        identify: (authorization) => {
          const caller = this.callers.get(authorization ?? '');
          if (caller) return { kind: 'caller', caller };
          return { kind: authorization === undefined ? 'none' : 'invalid' };
        },
      },
      authorizer: { can: (_caller, action, resourceId) => this.rights.has(`${action} ${resourceId}`) },
      addresses: () => ({ gatewayUrl: 'http://gateway.test', securityUrl: 'http://security.test' }),
      nowMs: () => this.nowMs,
      steadyMs: () => this.nowMs,
      version: '1.2.3',
      allowedHosts: new Set(['gateway.test']),
      onExchange: (exchange) => {
        this.traffic.push(exchange);
        this.#exchanges.emit('record', exchange);
      },
      onFault: (fault) => this.faults.push(fault),
      ...options,
    });
  }

  async start(): Promise<this> {
    this.port = (await this.gateway.start({ host: '127.0.0.1', port: 0 })).port;
    return this;
  }

  /** Commits a record: a new one, or another version of one. */
  put(after: StoredResource): StoredResource {
    const before = this.world.find(after.id);
    this.#changed({ after, ...(before && { before }) });
    return after;
  }

  patch(before: StoredResource, properties: JsonObject): StoredResource {
    return this.put({ ...before, properties: { ...before.properties, ...properties } });
  }

  remove(before: StoredResource): void {
    this.#changed({ before });
  }

  #changed(change: Change): void {
    this.world.apply([change]);
    this.gateway.changed(change);
  }

  #add(collection: TypeWord, name: string, members?: Partial<StoredResource>): StoredResource {
    return this.put(record(collection, name, members));
  }

  lambda(handler: Handler, properties: JsonObject = {}, accept?: string): StoredResource {
    const lambda = this.#add('lambdas', 'fake', { properties });
    this.#handlers.set(lambda.id, { handler, accept });
    return lambda;
  }

  /** A container that exposes its port 8080 as `web`. */
  container(name: string): StoredResource {
    const mapping = { name: 'web', protocol: 'tcp', container_port: 8080, expose_endpoint: true, lb_port: 80 };
    return this.#add('containers', name, { properties: { port_mappings: [mapping] } });
  }

  provider(properties: JsonObject): StoredResource {
    return this.#add('providers', 'gateway', { type: 'Configuration::Provider::Kong', properties });
  }

  api(name: string): StoredResource {
    return this.#add('apis', name);
  }

  /** Publishes a target, by default at `/{api}{resource}` for all methods. */
  endpoint(api: StoredResource, target: StoredResource, properties: JsonObject): StoredResource {
    const kind = target.type === 'Resource::Container' ? 'container' : 'lambda';
    const implementation = { implementation_type: kind, implementation_id: target.id };
    return this.#add('apiendpoints', 'endpoint', { parent: api.id, properties: { ...implementation, ...properties } });
  }

  /** A caller with `token` as the Authorization header. */
  caller(token: string, caller: Partial<Caller> = {}): Caller {
    const testCaller = {
      userId: randomUUID(),
      name: token,
      isRoot: false,
      groupIds: [],
      scheme: 'bearer' as const,
      ...caller,
    };
    this.callers.set(token, testCaller);
    return testCaller;
  }

  /** Sends one request over a new connection. */
  send(
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string | string[]>; body?: string | Uint8Array } = {},
  ): Promise<GatewayResponse> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ port: this.port, host: '127.0.0.1', method, path, headers, agent: false });
      outgoing.on('error', reject);
      outgoing.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('error', reject);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { statusCode: status = 0, headers, rawHeaders } = response;
          const body = Buffer.concat(chunks).toString();
          const isJson = headers['content-type'] === 'application/json' && body !== '';
          resolve({ status, headers, rawHeaders, body, json: isJson ? JSON.parse(body) : undefined });
        });
      });
      outgoing.end(body);
    });
  }

  /** Resolves when the next request is over. */
  async nextExchange(): Promise<ExchangeRecord> {
    const [record]: ExchangeRecord[] = await once(this.#exchanges, 'record');
    if (!record) throw new Error('no exchange was reported');
    return record;
  }

  /** Sends bytes over a plain socket; resolves with the response when the gateway closes the connection. */
  sendRaw(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1');
      let got = '';
      socket.setEncoding('latin1');
      socket.on('data', (chunk) => {
        got += chunk;
      });
      socket.on('end', () => resolve(got));
      socket.on('error', reject);
      socket.write(bytes, 'latin1');
    });
  }

  stop(): Promise<void> {
    return this.gateway.stop();
  }
}
