import type { Router } from 'express';
import { type RequestToSend, sendingRows } from '../contract/sending.ts';
import { demandRoot, type Gate, serve, targetOf } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { masked } from '../model/masked-text.ts';

const MAX_BODY_BYTES = 256 * 1024;
/** Longer than any lambda may take. */
const TIMEOUT_MS = 15 * 60 * 1000;

export interface SendingOptions {
  /** Where the gateway listens, for this machine. */
  gatewayUrl(): string;
  /** Milliseconds of a clock that only goes forward. */
  elapsedMs(): number;
  /** Tokens for requests in the name of others. */
  tokens: {
    tokenFor(userId: Uuid): Promise<string>;
    /** It is good for nothing from then on. */
    endToken(token: string): Promise<unknown>;
  };
}

/** Requests to public endpoints that the window makes for its user, to the gateway and nowhere else. */
export function sendingRoutes({ gatewayUrl, elapsedMs, tokens }: SendingOptions, gate: Gate): Router {
  const send = async (asked: RequestToSend, authorization: string | undefined) => {
    const begunMs = elapsedMs();
    const answer = await ask(gatewayUrl(), asked, authorization);
    const { text, isCut } = await beginningOf(answer);
    const executionId = answer.headers.get('X-Terrarium-Execution-Id');
    const told = {
      status: answer.status,
      headers: [...answer.headers],
      body: text,
      ...(isCut && { isCut }),
      durationMs: Math.round(elapsedMs() - begunMs),
      ...(executionId !== null && { executionId }),
    };
    // What answers may say with what it was asked.
    const token = authorization?.replace(/^\S+\s+/, '') ?? '';
    return token === '' ? told : masked(told, [token]);
  };
  return serve(sendingRows, gate, {
    async sendRequest({ caller, body: asked, req }) {
      if (asked.as === undefined) return send(asked, asked.asMe ? req.headers.authorization : undefined);
      demandRoot(caller);
      const token = await tokens.tokenFor(targetOf(gate, asked.as, ['users']).id);
      try {
        return await send(asked, `Bearer ${token}`);
      } finally {
        await tokens.endToken(token);
      }
    },
  });
}

async function ask(gatewayUrl: string, asked: RequestToSend, authorization: string | undefined): Promise<Response> {
  const { method, path, body } = asked;
  try {
    const headers = new Headers(asked.headers);
    if (authorization !== undefined) headers.set('Authorization', authorization);
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
