import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Emulator } from '../server/emulator.ts';
import { basic } from './client.ts';

/** A request of root's that the platform has accepted and whose JSON body is still to come. */
export interface SlowRequest {
  /** Sends the body; gives the status of the answer. */
  finish(body: unknown): Promise<number | undefined>;
}

/** Sends all of a request but its body, and waits until the platform asks for that. */
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
