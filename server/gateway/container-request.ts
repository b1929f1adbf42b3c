import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlatformError } from '../model/errors.ts';
import type { BodyCapture } from '../model/exchange-record.ts';
import type { Uuid, WorldView } from '../model/record.ts';
import { findServiceAddress } from '../model/types/port-mappings.ts';

/** A request that passed the checks of the gateway and is forwarded to a container (D-153, D-159). */
export interface ContainerRequest {
  containerId: Uuid;
  /** ID of this request, a random UUID from which its span id in the trace is derived. */
  exchangeId: string;
  containerName: string;
  portName: string;
  /** Host header for the container: the service address of the port (D-047). */
  serviceHost: string;
  /** The host as the client sent it; undefined if it sent none. */
  askedHost: string | undefined;
  /** Path and query for the container: without the prefix of the endpoint, at least `/`. */
  target: string;
  /** The removed prefix, percent-encoded, for X-Forwarded-Prefix; empty if nothing was removed. */
  prefix: string;
  /** Maximum size of the body. A larger body without Content-Length is detected while it is forwarded. */
  maxBodyBytes: number;
  /** The request with an unread body; with `Expect: 100-continue` the client still waits for 100. */
  request: IncomingMessage;
  response: ServerResponse;
  /** The body, if the gateway has read it to choose the route. */
  body?: Uint8Array;
  /** Headers that the gateway adds to those of the container (`ownHeaders`); called when the response starts. */
  controlHeaders(ownHeaders: readonly string[]): string[];
  /** Filled in while the request is forwarded. */
  recording: { request: BodyCapture; response: BodyCapture; responseHeaders?: readonly string[] };
}

/** Completes a request from the record of its container; throws 503 if the container was deleted (D-130). */
export function requestForContainer(
  view: WorldView,
  request: Omit<ContainerRequest, 'containerName' | 'serviceHost'>,
): ContainerRequest {
  const container = view.find(request.containerId);
  if (!container) {
    throw new PlatformError(
      'container_not_running',
      'the target container of this endpoint was deleted. Set another target.',
    );
  }
  const address = findServiceAddress(container, request.portName);
  if (!address) {
    const [name, port] = [container.name, request.portName];
    const cure = 'Expose the port (expose_endpoint) or set another port on the endpoint.';
    throw new PlatformError(
      'container_not_running',
      `container '${name}' no longer has an exposed port mapping '${port}'. ${cure}`,
    );
  }
  const serviceHost = address.port === 80 ? address.host : `${address.host}:${address.port}`;
  return { ...request, containerName: container.name, serviceHost };
}
