import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import { queryOf, singleParameter } from '../http/query.ts';
import { readJson } from '../http/read-body.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { BegunInvocation, LambdaInvoker } from '../model/invocation.ts';
import type { Query } from '../model/query-language.ts';
import { exchangeQuery, invocationQuery } from '../model/recorded-queries.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldView } from '../model/world-view.ts';
import type { WorldGuard } from './history-routes.ts';
import type { LambdaRoutesOptions } from './lambda-routes.ts';
import { factsOfExchange, shownExchange, shownWholeExchange } from './recorded-exchange.ts';
import { factsOfInvocation, shownRecorded, shownSummary } from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';
import { replay } from './replay.ts';
import { scopeOf } from './scope.ts';
import { shownInvocation } from './shown-invocation.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** So many are looked through for one answer; the reader goes on at `next`. */
const MAX_LOOKED = 5_000;

const replayWish = z.strictObject({ event: z.unknown().optional() });

export interface RecorderRoutesOptions {
  recorder: Recorder;
  view: WorldView;
  guard: WorldGuard;
  invoker: LambdaInvoker;
  target: LambdaRoutesOptions['target'];
}

/**
 * What was recorded, below `/inspect`. Lists are newest first and take `q` (a query), `scope` (an organization, workspace or
 * environment), `limit`, `before` (older than a place: `next` of the page before) and `after` (newer than a place); a page may hold fewer
 * than asked for, even none, and go on.
 *
 * - `GET /invocations?lambda=`: `{invocations, running, total, newest, run, next?}`, without events, logs and outbound calls.
 * - `GET /invocations/{execution id}`: one of them, whole, with the request that caused it.
 * - `POST /invocations/{execution id}/replay` `{event?}`: runs the lambda with the same event again, or with another, as the one who
 *   asks; answers the record of the new invocation.
 * - `GET /traffic?plane=&endpoint=`: `{requests, total, newest, run, next?}`, without headers and bodies.
 * - `GET /traffic/{seq}`: one of them, whole.
 */
export function recorderRoutes({ recorder, view, guard, invoker, target }: RecorderRoutesOptions): Router {
  const { invocations, exchanges } = recorder;
  const router = express.Router({ caseSensitive: true });
  const statusOf = (executionId: Uuid) => recorder.statusOf(executionId);
  const failuresOf = (executionId: Uuid | undefined) => recorder.failuresOf(executionId);
  const getInvocation = (id: string) => {
    const found = invocations.find(id.toLowerCase());
    if (found) return found;
    throw new PlatformError(404, `invocation '${id.slice(0, 64)}' is not among the newest ${invocations.maxItems}`);
  };

  router.get('/invocations', (req, res) => {
    guard.viewer(req);
    const { page, text } = listWish(req);
    const lambda = text('lambda')?.toLowerCase();
    const query = readQuery(invocationQuery(text('q') ?? ''));
    const isInScope = scopeOf(view, text('scope'));
    const isOf = ({ lambdaId }: { lambdaId: Uuid }) =>
      (lambda === undefined || lambdaId === lambda) && isInScope(lambdaId);
    const { items, next } = invocations.page({
      ...page,
      isWanted: ({ item }) => isOf(item) && query(factsOfInvocation(item, statusOf(item.executionId), recorder.whole)),
    });
    res.json({
      invocations: items.map(({ seq, item }) => shownSummary(item, seq, statusOf(item.executionId))),
      running: recorder.running.filter(isOf).map(shownBegun),
      total: invocations.size,
      newest: invocations.newest,
      run: recorder.run,
      ...(next !== undefined && { next }),
    });
  });

  router.get('/invocations/:id', (req, res) => {
    guard.viewer(req);
    const { item, seq } = getInvocation(req.params.id);
    const exchange = exchanges.find(item.executionId);
    res.json({
      seq,
      ...shownRecorded(recorder.whole(item)),
      ...(exchange && {
        request: shownWholeExchange(recorder.wholeExchange(exchange.item), exchange.seq, item.outboundFailures),
      }),
    });
  });

  router.post('/invocations/:id/replay', async (req, res) => {
    guard.viewer(req);
    const { item } = getInvocation(String(req.params.id));
    const { caller } = target(req, 'invoke', ['lambdas'], item.lambdaId);
    const { event } = parseWith(replayWish, (await readJson(req)) ?? {}, '');
    const invocation = await replay(
      { recorder, invoker },
      recorder.whole(item),
      { caller, creds: req.headers.authorization ?? '' },
      event,
    );
    res.json({ ...shownInvocation(invocation), replayOf: item.executionId });
  });

  router.get('/traffic', (req, res) => {
    guard.viewer(req);
    const { page, text } = listWish(req);
    const [endpoint, plane] = [text('endpoint')?.toLowerCase(), text('plane')];
    if (plane !== undefined && plane !== 'gateway' && plane !== 'control') {
      throw new PlatformError(400, `plane '${plane.slice(0, 64)}' is neither gateway nor control`);
    }
    const query = readQuery(exchangeQuery(text('q') ?? ''));
    const isInScope = scopeOf(view, text('scope'));
    const { items, next } = exchanges.page({
      ...page,
      isWanted: ({ item }) =>
        (endpoint === undefined || item.endpointId === endpoint) &&
        (plane === undefined || item.plane === plane) &&
        isInScope(item.endpointId) &&
        query(factsOfExchange(item, failuresOf(item.executionId), recorder.wholeExchange)),
    });
    res.json({
      requests: items.map(({ seq, item }) => shownExchange(item, seq, failuresOf(item.executionId))),
      total: exchanges.size,
      newest: exchanges.newest,
      run: recorder.run,
      ...(next !== undefined && { next }),
    });
  });

  router.get('/traffic/:seq', (req, res) => {
    guard.viewer(req);
    const { seq } = req.params;
    const found = /^\d{1,15}$/.test(seq) ? exchanges.at(Number(seq)) : undefined;
    if (!found)
      throw new PlatformError(404, `request '${seq.slice(0, 64)}' is not among the newest ${exchanges.maxItems}`);
    res.json(shownWholeExchange(recorder.wholeExchange(found.item), found.seq, failuresOf(found.item.executionId)));
  });
  return router;
}

function shownBegun({ acceptedAtMs, ...begun }: BegunInvocation): object {
  return { ...begun, acceptedAt: new Date(acceptedAtMs).toISOString() };
}

function readQuery<Facts>(query: Query<Facts>): (facts: Facts) => boolean {
  if (query.ok) return query.matches;
  const { message, at } = query.fault;
  throw new PlatformError(400, `q cannot be read at character ${at + 1}: ${message}`);
}

function listWish(req: Request) {
  const query = queryOf(req);
  const text = (name: string) => singleParameter(query, name);
  const number = (name: string, least: number) => {
    const written = text(name);
    if (written === undefined) return undefined;
    if (!/^\d{1,15}$/.test(written) || Number(written) < least) {
      throw new PlatformError(400, `${name} '${written.slice(0, 64)}' is no whole number of at least ${least}`);
    }
    return Number(written);
  };
  const limit = Math.min(number('limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT);
  return { text, page: { limit, before: number('before', 1), after: number('after', 0), maxLooked: MAX_LOOKED } };
}
