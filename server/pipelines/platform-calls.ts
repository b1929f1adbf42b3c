import type { z } from 'zod';

/** Speaks to a running platform as somebody who may run pipelines there. */
export interface PlatformCalls {
  readonly baseUrl: string;
  /** The JSON of the answer; rejects with a sentence when it is a refusal, or none comes. */
  json<T>(method: string, path: string, schema: z.ZodType<T>, call?: JsonCall): Promise<T>;
  text(method: string, path: string, call?: JsonCall): Promise<string>;
}

interface JsonCall {
  body?: { type: string; content: string };
}

/** A JSON body of a call. */
export function jsonBody(body: object): JsonCall {
  return { body: { type: 'application/json', content: JSON.stringify(body) } };
}
