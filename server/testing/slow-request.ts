import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Emulator } from '../platform/emulator.ts';
import { basic } from './client.ts';

/** A request as root that the platform has accepted and whose JSON body is not sent yet. */
export interface SlowRequest {
  /** Sends the body; returns the status of the response. */
  finish(body: unknown): Promise<number | undefined>;
}

/** Sends a request without its body, and waits until the platform asks for the body. */
export async function startRequest(emulator: Emulator, method: string, path: string): Promise<SlowRequest> {
  const { apiKey, apiSecret = '' } = emulator.rootCredentials;
  const headers = {
    Authorization: basic(apiKey, apiSecret),
    'Content-Type': 'application/json',
    Expect: '100-continue',
  };
  const sending = request(emulator.metaUrl + path, { method, headers });
  sending.flushHeaders();
  await once(sending, 'continue');
  return {
    async finish(body) {
      sending.end(JSON.stringify(body));
      const [response]: IncomingMessage[] = await once(sending, 'response');
      response?.resume();
      return response?.statusCode;
    },
  };
}
