import { randomUUID } from 'node:crypto';
import express, { type Request, type Router } from 'express';
import { queryOf, singleParameter } from '../http/query.ts';
import { parseJson, readText } from '../http/read-body.ts';
import type { Caller } from '../model/caller.ts';
import type { Uuid } from '../model/ids.ts';
import type { LambdaInvoker, LogLine } from '../model/invocation.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { Arrivals } from './arrivals.ts';
import { type ContainerLog, readContainerLog, streamContainerLog } from './container-log.ts';
import { streamLog } from './log-stream.ts';
import { shownInvocation, shownLine } from './shown-invocation.ts';

const LOGGED: readonly TypeWord[] = ['lambdas', 'containers', 'jobs'];

/** Logs that can be read on from where a reader has got to. */
export interface LogPages {
  /** Lines oldest first. Throws 400 for a query that cannot be read. */
  readLog(
    lambdaId: string,
    query: { time?: string | undefined; stderr?: string | undefined; after?: string | undefined },
  ): { lines: LogLine[]; cursor: string; hasGap: boolean };
}

/** What a request is about, once its caller is known to have the right to it. */
export interface Target {
  caller: Caller;
  resource: StoredResource;
}

/** The resource of the path's `:id`, or of `id`, and who asks for it. Throws 400, 401, 404, and 403 without the right. */
export type TargetOf = (
  req: Request,
  verb: 'view' | 'invoke' | 'update',
  words: readonly TypeWord[],
  id?: Uuid,
) => Target;

export interface LambdaRoutesOptions {
  invoker: LambdaInvoker;
  lambdaLog: LogPages;
  containerLog: ContainerLog;
  /** Told of each line, with the id of its lambda as topic. */
  arrivals: Arrivals;
  target: TargetOf;
}

/**
 * - `POST /lambdas/{id}/invoke`: runs a lambda with the body as its event and answers the record of the invocation, 200
 *   whatever came of it. Takes the right lambda.invoke (D-116); the lambda sees who calls as it would behind the gateway (D-136).
 * - `GET /logs/{id}?after=CURSOR&waitS=&time=&stderr=`: `{lines, cursor, hasGap}`. Without `after` the lines that D-191 gives;
 *   with it those that came since, waiting for one up to `waitS` seconds. The log of a job is that of a container.
 * - `GET /logs/{id}/stream?after=CURSOR`: the same as server-sent events, for as long as the reader stays.
 */
export function lambdaRoutes(options: LambdaRoutesOptions): Router {
  const { invoker, lambdaLog, containerLog, arrivals, target } = options;
  const router = express.Router({ caseSensitive: true });

  router.post('/lambdas/:id/invoke', async (req, res) => {
    const { caller, resource: lambda } = target(req, 'invoke', ['lambdas']);
    const { text } = await readText(req, ['application/json']);
    if (text !== '') parseJson(text);
    const invocation = await invoker.invoke(lambda.id, {
      executionId: randomUUID(),
      trigger: 'manual',
      body: Buffer.from(text),
      context: {
        method: 'POST',
        path: '',
        params: {},
        headers: { 'content-type': 'application/json' },
        creds: req.headers.authorization ?? '',
        user: { id: caller.userId, name: caller.name },
        httpAware: false,
      },
    });
    res.json(shownInvocation(invocation));
  });

  router.get('/logs/:id', async (req, res) => {
    const { resource } = target(req, 'view', LOGGED);
    const query = queryOf(req);
    const [time, stderr, after, waitS] = ['time', 'stderr', 'after', 'waitS'].map((name) =>
      singleParameter(query, name),
    );
    if (typeOf(resource).word !== 'lambdas') {
      const page = await readContainerLog(containerLog, resource.id, { time, stderr, after, waitS }, { arrivals, res });
      res.json({ ...page, lines: page.lines.map(shownLine) });
      return;
    }
    let from = after;
    const page = await arrivals.look(
      () => {
        const found = lambdaLog.readLog(resource.id, { time, stderr, after: from });
        // What is not wanted, such as standard error, is not looked through again.
        from = found.cursor;
        return found;
      },
      ({ lines, hasGap }) => lines.length > 0 || hasGap,
      { topic: resource.id, waitS, res },
    );
    res.json({ ...page, lines: page.lines.map(shownLine) });
  });

  router.get('/logs/:id/stream', async (req, res) => {
    const { resource } = target(req, 'view', LOGGED);
    const after = lastPlaceOf(req);
    if (typeOf(resource).word !== 'lambdas') {
      await streamContainerLog(containerLog, resource.id, after, { arrivals, res });
      return;
    }
    const read = (cursor: string | undefined) => lambdaLog.readLog(resource.id, { after: cursor });
    await streamLog(res, after, read, { arrivals, topic: resource.id });
  });
  return router;
}

/** Where a reader of a stream has got to: what it says itself, or what its browser does after a broken line. */
function lastPlaceOf(req: Request): string | undefined {
  const header = req.headers['last-event-id'];
  return typeof header === 'string' && header !== '' ? header : singleParameter(queryOf(req), 'after');
}
