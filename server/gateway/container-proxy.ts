import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { UpgradedConnection } from '../api/server/upgrades.ts';
import { PlatformError } from '../model/errors.ts';
import type { ContainerRequest } from './container-request.ts';
import { ForwardedBody } from './forwarded-body.ts';
import { answerLines } from './forwarded-headers.ts';
import { callInstance, named, type SwitchedConnection, Unanswered } from './instance-call.ts';
import { joinSockets } from './joined-sockets.ts';
import { type InstanceDirectory, RoundRobin, type ServingInstance } from './round-robin.ts';

/** Time for which an idle connection to an instance is kept: less than common servers wait. */
const IDLE_CONNECTION_MS = 1_500;

const RETRY_AFTER_S = '1';

const ANSWER_TIMEOUT_MS = 60_000;

/** After one end of a WebSocket has ended, the other is closed when no data moves for this time. */
const CLOSE_WAIT_MS = 5_000;

export interface ContainerProxyOptions {
  directory: InstanceDirectory;
  /** The clock by which instances that are about to stop get no requests. */
  steadyMs(): number;
  /** Timeout for an instance to start its response, from the end of the request (D-159); default: one minute. */
  answerTimeoutMs?: number;
  /** Time for which a connection that is not used is kept. */
  idleConnectionMs?: number;
}

/** Forwards requests to containers: round robin over the ready instances (D-047, D-159). */
export class ContainerProxy {
  readonly #directory: InstanceDirectory;
  readonly #answerTimeoutMs: number;
  readonly #turns: RoundRobin;
  readonly #agent: Agent;

  constructor(options: ContainerProxyOptions) {
    const { directory, steadyMs, answerTimeoutMs = ANSWER_TIMEOUT_MS, idleConnectionMs = IDLE_CONNECTION_MS } = options;
    this.#directory = directory;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#agent = new Agent({ keepAlive: true, timeout: idleConnectionMs });
    this.#turns = new RoundRobin(directory, steadyMs);
  }

  /** Resolves when the response is sent or the client has disconnected; rejects with a PlatformError (D-159) while nothing of it is sent. */
  async forward(call: ContainerRequest): Promise<void> {
    const body = new ForwardedBody(call);
    await this.#withInstance(call, body, async (instance, isFirst) => {
      const end = this.#turns.begin(instance.instanceId, {});
      const [answerTimeoutMs, agent] = [this.#answerTimeoutMs, isFirst && this.#agent];
      await callInstance({ instance, call, body, agent, answerTimeoutMs }).finally(end);
    });
  }

  /** Resolves when the WebSocket is closed, the instance has refused it or the client has disconnected; rejects like `forward`. */
  async upgrade(call: ContainerRequest, client: UpgradedConnection): Promise<void> {
    const body = new ForwardedBody(call);
    await this.#withInstance(call, body, async (instance) => {
      let closed: Promise<void> | undefined;
      // A refusal ends by itself.
      const cut = () => closed && client.socket.destroy();
      const end = this.#turns.begin(instance.instanceId, { goAway: cut, cut });
      const onSwitch = (switched: SwitchedConnection) => {
        closed = connectWebSocket(call, client, switched);
      };
      const answerTimeoutMs = this.#answerTimeoutMs;
      const called = callInstance({ instance, call, body, agent: false, answerTimeoutMs, onSwitch });
      await called.then(() => closed).finally(end);
    });
  }

  /** Sends nothing new to an instance and cuts its WebSockets. Resolves when all requests have ended or after the timeout. */
  drain(instanceId: string, timeoutMs: number): Promise<void> {
    return this.#turns.drain(instanceId, timeoutMs);
  }

  stop(): void {
    this.#turns.stop();
    this.#agent.destroy();
  }

  /** Tries instances until one can be reached. A repeatable request is sent once more if a reused connection was closed. */
  async #withInstance(
    call: ContainerRequest,
    body: ForwardedBody,
    serve: (instance: ServingInstance, isFirst: boolean) => Promise<void>,
  ): Promise<void> {
    const unreachable = new Map<string, Unanswered>();
    let isFirst = true;
    while (!call.response.destroyed) {
      const instance = this.#turns
        .inOrder(call.containerId, call.portName)
        .find(({ instanceId }) => !unreachable.has(instanceId));
      if (!instance) throw this.#unavailableError(call, [...unreachable.values()]);
      try {
        await serve(instance, isFirst);
        return;
      } catch (failure) {
        if (!(failure instanceof Unanswered)) throw failure;
        if (failure.silence === 'unreachable') unreachable.set(instance.instanceId, failure);
        else if (failure.silence !== 'stale' || !body.isRepeatable || !isFirst)
          throw unanswered(call, failure, this.#directory.complaint?.(call.containerId));
        else isFirst = false;
      }
    }
  }

  #unavailableError(call: ContainerRequest, failures: readonly Unanswered[]): PlatformError {
    const [failure] = failures;
    if (failure) {
      const advice =
        this.#directory.complaint?.(call.containerId) ?? `Check that it listens on port '${call.portName}'.`;
      const message = `${named(call)} cannot be reached: ${failure.message}. ${advice}`;
      return new PlatformError('container_failed', message, { cause: failure });
    }
    const message = `${named(call)} is not running: ${this.#directory.unavailableReason(call.containerId)}`;
    return new PlatformError('container_not_running', message, { headers: { 'Retry-After': RETRY_AFTER_S } });
  }
}

function unanswered(call: ContainerRequest, failure: Unanswered, complaint: string | undefined): PlatformError {
  const { message, silence } = failure;
  if (silence === 'late')
    return new PlatformError('container_timeout', `${named(call)} failed: ${message}`, { cause: failure });
  const fact = `${named(call)} closed the connection without a response (${message})`;
  return new PlatformError('container_failed', complaint === undefined ? fact : `${fact}: ${complaint}`, {
    cause: failure,
  });
}

/** Resolves when both connections are closed. */
function connectWebSocket(
  call: ContainerRequest,
  client: UpgradedConnection,
  { answer, socket, head }: SwitchedConnection,
): Promise<void> {
  const { response } = call;
  const protocol = ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? 'websocket'];
  response.writeHead(101, answer.statusMessage ?? '', [...protocol, ...answerLines(answer, call)]);
  response.end();
  response.detachSocket(client.socket);
  socket.write(client.head);
  client.socket.write(head);
  closeAfter(client.socket, socket);
  closeAfter(socket, client.socket);
  // What was already read is still sent.
  return joinSockets(client.socket, socket, (side) => side.destroy());
}

function closeAfter(ended: Socket, other: Socket): void {
  const close = () => other.setTimeout(CLOSE_WAIT_MS, () => other.destroy());
  if (ended.readableEnded) close();
  else ended.once('end', close);
}
