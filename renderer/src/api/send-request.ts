import type { AnswerOf } from '../../../server/api/routes/route.ts';
import type { sendingRoutes } from '../../../server/api/routes/sending.ts';
import { send } from './client.ts';

export type AnswerOfRequest = AnswerOf<typeof sendingRoutes.sendRequest>;

export interface RequestToSend {
  method: string;
  /** Behind the gateway, with its query. */
  path: string;
  headers: readonly (readonly [string, string])[];
  body: string;
  /** With the credentials of the signed-in user? */
  asMe: boolean;
  /** As that user; for root. */
  as?: string | undefined;
  /** The number of the rejected request that it repeats. */
  replayOf?: number | undefined;
}

/** Sends a request to a public endpoint, through the gateway: the page itself may send requests to the platform only. */
export function sendThroughGateway(request: RequestToSend): Promise<AnswerOfRequest> {
  return send('POST', '/inspect/requests', request);
}

/** `Name: value`, one a line, as pairs; lines that are not a header are left out. */
export function headersIn(text: string): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
}
