import type { z } from 'zod';
import { PipelineError } from './pipeline-error.ts';

/** How long the platform may take to answer. */
const ANSWER_TIMEOUT_MS = 60_000;

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

/** Speaks to the platform at that address with a key pair. */
export function callsWith(baseUrl: string, pair: { key: string; secret: string }): PlatformCalls {
  const text: PlatformCalls['text'] = async (method, path, { body } = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Authorization: `Basic ${Buffer.from(`${pair.key}:${pair.secret}`).toString('base64')}`,
        Accept: 'application/json',
        ...(body && { 'Content-Type': body.type }),
      },
      ...(body && { body: body.content }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const answer = await response.text();
    if (response.ok) return answer;
    throw Object.assign(new PipelineError(`${method} ${path}: ${messageIn(answer)}`, 1), { status: response.status });
  };
  return {
    baseUrl,
    text,
    json: async <T>(method: string, path: string, schema: z.ZodType<T>, call?: Parameters<typeof text>[2]) =>
      schema.parse(JSON.parse(await text(method, path, call))),
  };
}

function messageIn(answer: string): string {
  try {
    return String(Object(JSON.parse(answer)).message ?? answer);
  } catch {
    return answer;
  }
}
