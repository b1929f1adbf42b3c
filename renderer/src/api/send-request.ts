import type { AnswerOf } from '../../../server/contract/row.ts';
import type { sendingRows } from '../../../server/contract/sending.ts';
import { send } from './client.ts';

export type AnswerOfRequest = AnswerOf<typeof sendingRows.sendRequest>;

export interface RequestToSend {
  method: string;
  /** Behind the gateway, with its query. */
  path: string;
  headers: readonly (readonly [string, string])[];
  body: string;
  /** With the credentials of whoever is signed in? */
  asMe: boolean;
  /** As that user; for root. */
  as?: string | undefined;
}

/** Sends a request to a public endpoint, through the gateway: the page itself may ask nobody but the platform. */
export function sendThroughGateway(asked: RequestToSend): Promise<AnswerOfRequest> {
  return send('POST', '/inspect/requests', asked);
}

/** `Name: value`, one a line, as pairs; what is no header is left out. */
export function headersIn(text: string): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
}
