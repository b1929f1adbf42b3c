import type { IncomingHttpHeaders } from 'node:http';
import type { Uuid } from '../model/ids.ts';

/** One request that went through the gateway, told to the recorder after its end. Bodies are not copied: keep few. */
export interface TrafficRecord {
  /** Arrival, epoch milliseconds. */
  atMs: number;
  /** From arrival until the answer was handed to the system. */
  durationMs: number;
  /** Part of it that a lambda or container took. */
  upstreamMs: number;
  method: string;
  /** The request target as sent. */
  target: string;
  /** Address of the client. */
  peer: string;
  requestHeaders: IncomingHttpHeaders;
  /** Undefined when it was not read. */
  requestBody: Uint8Array | undefined;
  /** Undefined when the client went away before an answer. */
  status: number | undefined;
  /** Was the whole answer sent? */
  isComplete: boolean;
  endpointId: Uuid | undefined;
  executionId: Uuid | undefined;
  userId: Uuid | undefined;
}
