import type { Router } from 'express';
import { type RequestWish, sendingRows } from '../contract/sending.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';

const MAX_BODY_BYTES = 256 * 1024;
/** Longer than any lambda may take. */
const TIMEOUT_MS = 15 * 60 * 1000;

export interface SendingOptions {
  /** Where the gateway listens, for this machine. */
  gatewayUrl(): string;
  /** Milliseconds of a clock that only goes forward. */
  elapsedMs(): number;
}

/** Requests to public endpoints that the window makes for its user, to the gateway and nowhere else. */
export function sendingRoutes({ gatewayUrl, elapsedMs }: SendingOptions, gate: Gate): Router {
  return serve(sendingRows, gate, {
    async sendRequest({ body: wish, req }) {
      const begunMs = elapsedMs();
      const answer = await ask(gatewayUrl(), wish, req.headers.authorization);
      const { text, isCut } = await beginningOf(answer);
      const executionId = answer.headers.get('X-Terrarium-Execution-Id');
      return {
        status: answer.status,
        headers: [...answer.headers],
        body: text,
        ...(isCut && { isCut }),
        durationMs: Math.round(elapsedMs() - begunMs),
        ...(executionId !== null && { executionId }),
      };
    },
  });
}

async function ask(gatewayUrl: string, wish: RequestWish, authorization: string | undefined): Promise<Response> {
  const { method, path, body, asMe } = wish;
  try {
    const headers = new Headers(wish.headers);
    if (asMe && authorization !== undefined) headers.set('Authorization', authorization);
    return await fetch(`${gatewayUrl}${path}`, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && body !== '' && method !== 'GET' && method !== 'HEAD' && { body }),
    });
  } catch (failure) {
    const reason = failure instanceof Error ? String(failure.cause ?? failure.message) : String(failure);
    throw new PlatformError(502, `${method} ${path} came to nothing at the gateway: ${reason}`);
  }
}

/** What there is room for; the rest is not waited for. */
async function beginningOf({ body }: Response): Promise<{ text: string; isCut?: true }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString();
  return bytes > MAX_BODY_BYTES ? { text, isCut: true } : { text };
}
