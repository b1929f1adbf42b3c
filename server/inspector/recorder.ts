import express, { type Request, type Router } from 'express';
import { queryOf, singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { Invocation } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import type { WorldGuard } from './history-routes.ts';
import { Recent } from './recent.ts';
import { shownInvocation } from './shown-invocation.ts';

const MAX_INVOCATIONS = 2_000;
const MAX_REQUESTS = 5_000;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/** One request that went through the gateway, as far as it is kept: no bodies, no headers. */
export interface RecordedRequest {
  atMs: number;
  durationMs: number;
  /** Part of it that a lambda or container took. */
  upstreamMs: number;
  method: string;
  target: string;
  /** Address of the client. */
  peer: string;
  status: number | undefined;
  endpointId: Uuid | undefined;
  executionId: Uuid | undefined;
  userId: Uuid | undefined;
}

/** The newest invocations of lambdas and requests to the gateway, in memory. */
export class Recorder {
  readonly #invocations = new Recent<Invocation>(MAX_INVOCATIONS);
  readonly #requests = new Recent<RecordedRequest>(MAX_REQUESTS);

  addInvocation(invocation: Invocation): void {
    this.#invocations.add(invocation);
  }

  addRequest({ atMs, durationMs, upstreamMs, method, target, peer, status, ...ids }: RecordedRequest): void {
    const { endpointId, executionId, userId } = ids;
    this.#requests.add({ atMs, durationMs, upstreamMs, method, target, peer, status, endpointId, executionId, userId });
  }

  /**
   * What is kept, below `/inspect`:
   *
   * - `GET /invocations?lambda=&limit=&before=`: `{invocations, next?}`, newest first, without logs and outbound calls; `next` given
   *   back as `before` leads on.
   * - `GET /invocations/{execution id}`: one of them, whole.
   * - `GET /traffic?endpoint=&limit=&before=`: `{requests, next?}`, newest first.
   */
  routes(guard: WorldGuard): Router {
    const router = express.Router({ caseSensitive: true });
    router.get('/invocations', (req, res) => {
      guard.viewer(req);
      const { limit, before, value: lambda } = pageOf(req, 'lambda');
      const isWanted = ({ lambdaId }: Invocation) => lambda === undefined || lambdaId === lambda;
      const { items, next } = this.#invocations.page(limit, before, isWanted);
      res.json({ invocations: items.map(summaryOf), ...(next !== undefined && { next }) });
    });
    router.get('/invocations/:id', (req, res) => {
      guard.viewer(req);
      const { id } = req.params;
      const found = this.#invocations.find(({ executionId }) => executionId === id);
      if (!found) throw new PlatformError(404, `invocation ${id} is not among the newest ${MAX_INVOCATIONS}`);
      const request = this.#requests.find(({ executionId }) => executionId === id);
      res.json({ ...shownInvocation(found), ...(request && { request: shownRequest(request) }) });
    });
    router.get('/traffic', (req, res) => {
      guard.viewer(req);
      const { limit, before, value: endpoint } = pageOf(req, 'endpoint');
      const isWanted = ({ endpointId }: RecordedRequest) => endpoint === undefined || endpointId === endpoint;
      const { items, next } = this.#requests.page(limit, before, isWanted);
      res.json({ requests: items.map(shownRequest), ...(next !== undefined && { next }) });
    });
    return router;
  }
}

function summaryOf(invocation: Invocation): JsonObject {
  const { logs, outbound, ...summary } = shownInvocation(invocation);
  return { ...summary, logLines: invocation.logs.length, outboundCalls: invocation.outbound.length };
}

function shownRequest({ atMs, status, endpointId, executionId, userId, ...request }: RecordedRequest): JsonObject {
  return {
    at: new Date(atMs).toISOString(),
    ...request,
    ...(status !== undefined && { status }),
    ...(endpointId !== undefined && { endpointId }),
    ...(executionId !== undefined && { executionId }),
    ...(userId !== undefined && { userId }),
  };
}

function pageOf(
  req: Request,
  filter: string,
): { limit: number; before: number | undefined; value: string | undefined } {
  const query = queryOf(req);
  const number = (name: string, max: number) => {
    const text = singleParameter(query, name);
    if (text === undefined) return undefined;
    if (!/^[1-9]\d{0,11}$/.test(text))
      throw new PlatformError(400, `${name} '${text.slice(0, 64)}' is no whole number of at least 1`);
    return Math.min(Number(text), max);
  };
  return {
    limit: number('limit', MAX_LIMIT) ?? DEFAULT_LIMIT,
    before: number('before', Number.MAX_SAFE_INTEGER),
    value: singleParameter(query, filter)?.toLowerCase(),
  };
}
