import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** A header that only this process can write, because it marks the form of a rejected request as delivered. */
const NAME = 'x-terrarium-replay-of';
const KEY = randomUUID();

/** Name and value of the header for the repetition of a rejected request. */
export const replayHeader = (seq: number): [name: string, value: string] => [NAME, `${KEY} ${seq}`];

/** Removes the header, and returns the number of the rejected request that the request repeats. */
export function takeReplayOf({ headers, rawHeaders }: IncomingMessage): number | undefined {
  const value = headers[NAME];
  if (value === undefined) return undefined;
  delete headers[NAME];
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]?.toLowerCase() === NAME) rawHeaders.splice(at, 2);
  const [key, seq] = String(value).split(' ');
  return key === KEY ? Number(seq) : undefined;
}
