import { randomUUID } from 'node:crypto';
import type { Router } from 'express';
import { invokeRows, logRows, plainLogRows } from '../contract/logs.ts';
import type { Arrivals } from '../http/arrivals.ts';
import { parseJson, readText } from '../http/read-body.ts';
import { type Gate, serve } from '../http/serve.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { LogParameters } from '../model/log-query.ts';
import { typeOf } from '../model/registry.ts';
import { shownInvocation, shownLine } from '../traffic/shown-invocation.ts';
import { type ContainerLog, readContainerLog, streamContainerLog } from './container-log.ts';
import { type LogPiece, streamLog } from './log-stream.ts';

/** Captured output of lambdas (D-191). */
export interface LambdaLog {
  /** Lines newest last. Throws 400 for a malformed `time` or `stderr`. */
  log(lambdaId: string, query: LogParameters): string[];
  /** Lines oldest first, to be read on from where a reader has got to. Throws 400 for a query that cannot be read. */
  readLog(lambdaId: string, query: LogParameters & { after?: string | undefined }): LogPiece;
}

/** Runs a lambda, whatever comes of it; the lambda sees who calls as it would behind the gateway (D-136). */
export function invokeRoutes(invoker: LambdaInvoker, gate: Gate): Router {
  return serve(invokeRows, gate, {
    async invokeLambda({ caller, resource: lambda, req }) {
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
      return shownInvocation(invocation);
    },
  });
}

export interface LogRoutesOptions {
  lambdaLog: LambdaLog;
  containerLog: ContainerLog;
  /** Told of each line, with the id of its lambda as topic. */
  arrivals: Arrivals;
}

/** The routes of `/log` (D-191). */
export function plainLogRoutes({ lambdaLog, containerLog }: LogRoutesOptions, gate: Gate): Router {
  return serve(plainLogRows, gate, {
    readLambdaLog: ({ resource, query }) => lambdaLog.log(resource.id, query),
    readContainerLog: async ({ resource, query }) =>
      (await containerLog.lines(resource.id, query)).map(({ text }) => text),
  });
}

/** Logs as one goes on reading: page by page, or as server-sent events. */
export function logRoutes({ lambdaLog, containerLog, arrivals }: LogRoutesOptions, gate: Gate): Router {
  return serve(logRows, gate, {
    async readOnInLog({ resource, query: { waitS, ...query }, res }) {
      if (typeOf(resource).word !== 'lambdas') {
        const page = await readContainerLog(containerLog, resource.id, { ...query, waitS }, { arrivals, res });
        return { ...page, lines: page.lines.map(shownLine) };
      }
      let from = query.after;
      const page = await arrivals.look(
        () => {
          const found = lambdaLog.readLog(resource.id, { ...query, after: from });
          // What is not wanted, such as standard error, is not looked through again.
          from = found.cursor;
          return found;
        },
        ({ lines, hasGap }) => lines.length > 0 || hasGap,
        { topic: resource.id, waitS, res },
      );
      return { ...page, lines: page.lines.map(shownLine) };
    },
    followLog({ resource, query, req, res }) {
      // What a browser says after a broken line goes before the address that it began with.
      const header = req.headers['last-event-id'];
      const after = typeof header === 'string' && header !== '' ? header : query.after;
      if (typeOf(resource).word !== 'lambdas') {
        return streamContainerLog(containerLog, resource.id, after, { arrivals, res });
      }
      const read = (cursor: string | undefined) => lambdaLog.readLog(resource.id, { after: cursor });
      return streamLog(res, after, read, { arrivals, topic: resource.id });
    },
  });
}
