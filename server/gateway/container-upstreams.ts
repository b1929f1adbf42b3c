import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UpgradedConnection } from '../http/upgrades.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { findServiceAddress } from '../model/types/port-mappings.ts';
import type { WorldView } from '../model/world-view.ts';

/** A request that passed the gateway's checks and goes on to a container (D-153, D-159). */
export interface ContainerRequest {
  containerId: Uuid;
  /** Of this request on its way: a random UUID, after which its part of the trace is named. */
  exchangeId: string;
  /** For messages. */
  containerName: string;
  /** Name of the port mapping that the endpoint publishes. */
  portName: string;
  /** Host header for the container: the service address of the port (D-047). */
  serviceHost: string;
  /** The host that the client asked for, as it wrote it; undefined when it named none. */
  askedHost: string | undefined;
  /** Path and query for the container: without the endpoint's prefix, at least `/`. */
  target: string;
  /** That prefix, percent-encoded, for X-Forwarded-Prefix; empty when nothing was stripped. */
  prefix: string;
  /** Largest body to be passed on; a larger one that its head did not announce is found out on the way. */
  maxBodyBytes: number;
  /** Its body is not read yet; with `Expect: 100-continue` the client still waits to be asked for it. */
  request: IncomingMessage;
  /** Where the container's answer is streamed to. */
  response: ServerResponse;
  /**
   * Header lines that the gateway adds to the container's answer, asked when that begins.
   *
   * @param own the container's own lines, names and values alternating
   */
  controlHeaders(own: readonly string[]): string[];
  /** Told of what passes by. */
  witness: {
    /** A part of the request's body went to the container. */
    sent(chunk: Uint8Array): void;
    /** The head of the answer, names and values alternating. */
    answered(headers: readonly string[]): void;
    /** A part of the answer's body came. */
    received(chunk: Uint8Array): void;
  };
}

/** A WebSocket between a client and an instance. */
export interface Tunnel {
  /** Resolves when both ends are closed. */
  readonly closed: Promise<void>;
  /** Tells both ends to leave (1001) and closes it soon after. */
  goAway(): void;
}

/** Leads requests to the running instances of containers. */
export interface ContainerUpstreams {
  /**
   * Streams the request to an instance and its answer back. Resolves when the answer is sent or the client has gone;
   * rejects with a PlatformError (413, 502, 503, 504 by D-159) while nothing of an answer is sent.
   */
  forward(request: ContainerRequest): Promise<void>;
  /**
   * Leads a WebSocket handshake to an instance. Resolves to the open WebSocket, or to undefined when there is none: the
   * instance's refusal was passed on, or the client has gone. Rejects like `forward`.
   */
  upgrade(request: ContainerRequest, client: UpgradedConnection): Promise<Tunnel | undefined>;
}

/** What the pipeline knows of such a request; the rest is the container's record's to say. */
export type RequestForContainer = Omit<ContainerRequest, 'containerName' | 'serviceHost'>;

/** Finds the upstreams and completes the request; throws 503 when the container is gone (D-130) or there is no engine. */
export function containerUpstreams(
  upstreams: ContainerUpstreams | undefined,
  view: WorldView,
  request: RequestForContainer,
): { upstreams: ContainerUpstreams; request: ContainerRequest } {
  const container = view.find(request.containerId);
  if (!container) {
    throw new PlatformError(503, 'the container that this endpoint targets was deleted; point the endpoint at another');
  }
  if (!upstreams) {
    const reason = 'no container engine is attached to this emulator';
    throw new PlatformError(503, `container '${container.name}' is not running: ${reason}`);
  }
  const address = findServiceAddress(container, request.portName);
  if (!address) {
    const [name, port] = [container.name, request.portName];
    const cure = 'expose it again (expose_endpoint), or point the endpoint at another port';
    throw new PlatformError(503, `container '${name}' has no exposed port mapping '${port}' any more: ${cure}`);
  }
  const serviceHost = address.port === 80 ? address.host : `${address.host}:${address.port}`;
  return { upstreams, request: { ...request, containerName: container.name, serviceHost } };
}
