import type { Router } from 'express';
import { decodedBody, type RemoteResponse, sendRequest, within } from '../../api/client/send-request.ts';
import { type RequestToSend, type SavedRequest, sendingRoutes } from '../../api/routes/sending.ts';
import { mountRoutes, type RouteGuard, requireRoot, targetOf } from '../../api/server/mount-routes.ts';
import { pairsOf } from '../../gateway/forwarded-body.ts';
import { replayHeader } from '../../gateway/replay-header.ts';
import { PlatformError } from '../../model/errors.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { masked } from '../../model/rules/mask.ts';
import type { Credentials } from '../../services/security/credentials.ts';
import { tokenFor } from '../../services/security/window-sessions.ts';

const MAX_SAVED = 200;
const MAX_BODY_BYTES = 256 * 1024;
/** Longer than any lambda may take. */
const TIMEOUT_MS = 15 * 60 * 1000;

export interface SendingOptions {
  /** Address of the gateway for this machine. */
  gatewayUrl(): string;
  credentials: Credentials;
  saved: KeyedLog<SavedRequest>;
}

/** Requests to public endpoints that the window sends for its user, only to the gateway. */
export function sendingRouter({ gatewayUrl, credentials, saved }: SendingOptions, guard: RouteGuard): Router {
  const send = async (request: RequestToSend, authorization: string | undefined) => {
    const begunMs = performance.now();
    const answer = await ask(gatewayUrl(), request, authorization);
    const { text, isCut } = await beginningOf(answer);
    const headers = new Headers(pairsOf(answer.rawHeaders));
    const executionId = headers.get('X-Terrarium-Execution-Id');
    const reported = {
      status: answer.status,
      headers: [...headers],
      body: text,
      ...(isCut && { isCut }),
      durationMs: Math.round(performance.now() - begunMs),
      ...(executionId !== null && { executionId }),
    };
    // What answers may say with what it was asked.
    const token = authorization?.replace(/^\S+\s+/, '') ?? '';
    return token === '' ? reported : masked(reported, [token]);
  };
  return mountRoutes(sendingRoutes, guard, {
    listSavedRequests: () => ({ requests: [...saved.entries()].map(([, request]) => request) }),
    async saveRequest({ body: { replaces, ...request } }) {
      const { name } = request;
      if (!replaces && saved.get(name))
        throw new PlatformError(
          'name_taken',
          `a request '${name}' is already saved. Choose another name, or replace it.`,
        );
      if (!saved.get(name) && saved.size >= MAX_SAVED)
        throw new PlatformError('limit_reached', `at most ${MAX_SAVED} requests can be saved. Delete one first.`);
      await saved.put(name, request);
      return request;
    },
    async deleteSavedRequest({ path: { request_name: name } }) {
      if (!(await saved.remove(name)))
        throw new PlatformError('not_found', `request '${name.slice(0, 80)}' is not saved`);
    },
    async sendRequest({ caller, body: request, req }) {
      if (request.as === undefined) return send(request, request.asMe ? req.headers.authorization : undefined);
      requireRoot(caller);
      const user = targetOf(guard, request.as, ['users']);
      const token = await tokenFor({ view: guard.view, credentials }, user.id);
      try {
        return await send(request, `Bearer ${token}`);
      } finally {
        await credentials.revokeToken(token);
      }
    },
  });
}

async function ask(
  gatewayUrl: string,
  request: RequestToSend,
  authorization: string | undefined,
): Promise<RemoteResponse> {
  const { method, path, replayOf } = request;
  const body = method === 'GET' || method === 'HEAD' ? undefined : request.body || undefined;
  const url = `${gatewayUrl}${path}`;
  try {
    // Says what the body is where the headers do not.
    const { headers } = new Request(url, { method, headers: new Headers(request.headers), ...(body && { body }) });
    if (authorization !== undefined) headers.set('Authorization', authorization);
    if (replayOf !== undefined) headers.set(...replayHeader(replayOf));
    return await sendRequest(url, {
      method,
      headers: { accept: '*/*', ...Object.fromEntries(headers) },
      body,
      limits: { ...within(TIMEOUT_MS), bytes: Number.POSITIVE_INFINITY },
      linkLocal: 'all',
    });
  } catch (failure) {
    const reason = failure instanceof Error ? String(failure.cause ?? failure.message) : String(failure);
    throw new PlatformError('gateway_failed', `${method} ${path} failed at the gateway: ${reason}`);
  }
}

/** Reads the part of a response for which there is space, without waiting for the rest. */
async function beginningOf(answer: RemoteResponse): Promise<{ text: string; isCut?: true }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of decodedBody(answer)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) break;
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString();
  return bytes > MAX_BODY_BYTES ? { text, isCut: true } : { text };
}
