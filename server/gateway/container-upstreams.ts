import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { WorldView } from '../model/world-view.ts';

/** A request that passed the gateway's checks and goes on to a container (D-153, D-159). */
export interface ContainerRequest {
  containerId: Uuid;
  /** Name of the port mapping that the endpoint publishes. */
  portName: string;
  /** Path and query for the container: without the endpoint's prefix, at least `/`. */
  target: string;
  /** That prefix, percent-encoded, for X-Forwarded-Prefix; empty when nothing was stripped. */
  prefix: string;
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
}

/** Leads requests to the running instances of containers. */
export interface ContainerUpstreams {
  /**
   * Streams the request to an instance and its answer back. Resolves when the answer is sent or the client has gone;
   * rejects with a PlatformError (502, 503, 504 by D-159) while nothing of an answer is sent.
   */
  forward(request: ContainerRequest): Promise<void>;
}

/** Forwards to the engine that is attached; throws 503 when the container is gone (D-130) or there is no engine. */
export async function forwardToContainer(
  upstreams: ContainerUpstreams | undefined,
  view: WorldView,
  request: ContainerRequest,
): Promise<void> {
  const container = view.find(request.containerId);
  if (!container) {
    throw new PlatformError(503, 'the container that this endpoint targets was deleted; point the endpoint at another');
  }
  if (!upstreams) {
    const reason = 'no container engine is attached to this emulator';
    throw new PlatformError(503, `container '${container.name}' is not running: ${reason}`);
  }
  await upstreams.forward(request);
}
