import { Agent } from 'node:http';
import type { UpgradedConnection } from '../http/upgrades.ts';
import { PlatformError } from '../model/errors.ts';
import type { ContainerRequest } from './container-request.ts';
import { ForwardedBody } from './forwarded-body.ts';
import { answerLines } from './forwarded-headers.ts';
import { callInstance, named, type SwitchedConnection, Unanswered } from './instance-call.ts';
import type { InstanceDirectory, ServingInstance } from './instance-directory.ts';
import { InstanceTurns } from './instance-turns.ts';
import { WebSocketTunnel } from './web-socket-tunnel.ts';

/** How long a connection to an instance is kept without a request: less than the servers in use wait. */
const IDLE_CONNECTION_MS = 1_500;

/** Seconds after which a client may ask again while no instance serves. */
const RETRY_AFTER_S = '1';

const ANSWER_TIMEOUT_MS = 60_000;

/** What the proxy stands on. */
export interface ContainerProxyOptions {
  directory: InstanceDirectory;
  /** Epoch milliseconds. */
  nowMs(): number;
  /** For an instance to begin its answer, from the end of the request on (D-159); a minute unless given. */
  answerTimeoutMs?: number;
}

/** The gateway's way to containers: round robin over the instances that serve (D-047, D-159). */
export class ContainerProxy {
  readonly #directory: InstanceDirectory;
  readonly #answerTimeoutMs: number;
  readonly #turns: InstanceTurns;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS });

  constructor({ directory, nowMs, answerTimeoutMs = ANSWER_TIMEOUT_MS }: ContainerProxyOptions) {
    this.#directory = directory;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#turns = new InstanceTurns(directory, nowMs);
  }

  /**
   * Streams the request to an instance and its answer back. Resolves when the answer is sent or the client has gone;
   * rejects with a PlatformError (413, 502, 503, 504 by D-159) while nothing of an answer is sent.
   */
  async forward(call: ContainerRequest): Promise<void> {
    const body = new ForwardedBody(call);
    await this.#withInstance(call, body, async (instance, isFirst) => {
      const end = this.#turns.begin(instance.instanceId, {});
      const [answerTimeoutMs, agent] = [this.#answerTimeoutMs, isFirst && this.#agent];
      await callInstance({ instance, call, body, agent, answerTimeoutMs }).finally(end);
    });
  }

  /**
   * Leads a WebSocket handshake to an instance. Resolves to the open WebSocket, or to undefined when there is none: the
   * instance's refusal was passed on, or the client has gone. Rejects like `forward`.
   */
  async upgrade(call: ContainerRequest, client: UpgradedConnection): Promise<WebSocketTunnel | undefined> {
    const body = new ForwardedBody(call);
    let tunnel: WebSocketTunnel | undefined;
    await this.#withInstance(call, body, async (instance) => {
      let isLeaving = false;
      const goAway = () => {
        isLeaving = true;
        tunnel?.goAway();
      };
      const end = this.#turns.begin(instance.instanceId, { goAway, cut: () => tunnel?.cut() });
      const onSwitch = (switched: SwitchedConnection) => {
        tunnel = openTunnel(call, client, switched);
        if (isLeaving) tunnel.goAway();
      };
      const answerTimeoutMs = this.#answerTimeoutMs;
      const called = callInstance({ instance, call, body, agent: false, answerTimeoutMs, onSwitch });
      // The instance is in use for as long as the WebSocket is open.
      called.then(() => tunnel?.closed).then(end, end);
      await called;
    });
    return tunnel;
  }

  /**
   * Sends no new request to an instance that is about to go. WebSockets are closed (1001, at the end of a frame). Resolves when
   * all that was under way there has ended or the time is up.
   */
  drain(instanceId: string, timeoutMs: number): Promise<void> {
    return this.#turns.drain(instanceId, timeoutMs);
  }

  /** Lets go of every connection to an instance. Call it when the gateway has stopped. */
  stop(): void {
    this.#turns.stop();
    this.#agent.destroy();
  }

  /**
   * Has an instance serve a request, and others instead while it can't be reached; one that closes a kept connection just
   * when it is used for a request that may be repeated is asked once more, over a new connection.
   */
  async #withInstance(
    call: ContainerRequest,
    body: ForwardedBody,
    serve: (instance: ServingInstance, isFirst: boolean) => Promise<void>,
  ): Promise<void> {
    const unreachable = new Map<string, Unanswered>();
    let isFirst = true;
    while (!call.response.destroyed) {
      const instance = this.#findInstance(call, unreachable);
      if (!instance) throw this.#noInstance(call, [...unreachable.values()]);
      try {
        await serve(instance, isFirst);
        return;
      } catch (failure) {
        if (!(failure instanceof Unanswered)) throw failure;
        if (failure.silence === 'unreachable') unreachable.set(instance.instanceId, failure);
        else if (failure.silence !== 'stale' || !body.isRepeatable || !isFirst) throw unanswered(call, failure);
        else isFirst = false;
      }
    }
  }

  #findInstance(call: ContainerRequest, tried: ReadonlyMap<string, unknown>): ServingInstance | undefined {
    const inTurn = this.#turns.inTurn(call.containerId, call.portName);
    return inTurn.find(({ instanceId }) => !tried.has(instanceId));
  }

  #noInstance(call: ContainerRequest, failures: readonly Unanswered[]): PlatformError {
    const [failure] = failures;
    if (failure) {
      const message = `${named(call)} cannot be reached: ${failure.message}; does it listen on port '${call.portName}'?`;
      return new PlatformError(502, message, { cause: failure });
    }
    return notRunning(named(call), this.#directory.whyNotServing(call.containerId));
  }
}

function notRunning(container: string, reason: string): PlatformError {
  return new PlatformError(503, `${container} is not running: ${reason}`, {
    headers: { 'Retry-After': RETRY_AFTER_S },
  });
}

function unanswered(call: ContainerRequest, failure: Unanswered): PlatformError {
  const { message, silence } = failure;
  if (silence === 'late') return new PlatformError(504, `${named(call)} gave ${message}`, { cause: failure });
  return new PlatformError(502, `${named(call)} broke off without an answer (${message})`, { cause: failure });
}

/** Tells the client that the instance agreed, and joins their connections. */
function openTunnel(call: ContainerRequest, client: UpgradedConnection, switched: SwitchedConnection): WebSocketTunnel {
  const { answer, socket, head } = switched;
  const { response } = call;
  const protocol = ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? 'websocket'];
  response.writeHead(101, answer.statusMessage ?? '', [...protocol, ...answerLines(answer, call)]);
  response.end();
  response.detachSocket(client.socket);
  return new WebSocketTunnel(client, { socket, head });
}
