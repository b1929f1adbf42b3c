import type { IncomingMessage, ServerResponse } from 'node:http';
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

/** Completes a request by what its container's record says; throws 503 when that is gone (D-130). */
export function requestForContainer(
  view: WorldView,
  request: Omit<ContainerRequest, 'containerName' | 'serviceHost'>,
): ContainerRequest {
  const container = view.find(request.containerId);
  if (!container) {
    throw new PlatformError(503, 'the container that this endpoint targets was deleted; point the endpoint at another');
  }
  const address = findServiceAddress(container, request.portName);
  if (!address) {
    const [name, port] = [container.name, request.portName];
    const cure = 'expose it again (expose_endpoint), or point the endpoint at another port';
    throw new PlatformError(503, `container '${name}' has no exposed port mapping '${port}' any more: ${cure}`);
  }
  const serviceHost = address.port === 80 ? address.host : `${address.host}:${address.port}`;
  return { ...request, containerName: container.name, serviceHost };
}
