import { randomUUID } from 'node:crypto';
import type { Router } from 'express';
import { invokeRoutes, logRoutes, plainLogRoutes } from '../../api/routes/logs.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Notifier } from '../../api/server/notifier.ts';
import { parseJson, readText } from '../../api/server/read-body.ts';
import type { LambdaInvoker } from '../../model/invocation.ts';
import type { Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { LambdaService, LogPage } from '../../runtimes/lambdas/lambda-service.ts';
import { type ContainerLog, containerPage, containerStream } from './container-log.ts';
import { hasNews, streamLog } from './log-stream.ts';
import { toInvocationView, toLineView } from './recorded-invocation.ts';

/** Runs a lambda, whatever comes of it; the lambda sees who calls as it would behind the gateway (D-136). */
export function invokeRouter(invoker: LambdaInvoker, guard: RouteGuard): Router {
  return mountRoutes(invokeRoutes, guard, {
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
      return toInvocationView(invocation);
    },
  });
}

export interface LogRoutesOptions {
  lambdaLog: Pick<LambdaService, 'log' | 'readLog'>;
  containerLog: ContainerLog;
  /** Called for each line, with the id of its lambda as topic. */
  notifier: Notifier;
}

export function plainLogRouter({ lambdaLog, containerLog }: LogRoutesOptions, guard: RouteGuard): Router {
  return mountRoutes(plainLogRoutes, guard, {
    readLambdaLog: ({ resource, query }) => lambdaLog.log(resource.id, query),
    readContainerLog: async ({ resource, query }) =>
      (await containerLog.lines(resource.id, query)).map(({ text }) => text),
  });
}

/** Logs as one goes on reading: page by page, or as server-sent events. */
export function logRouter({ lambdaLog, containerLog, notifier }: LogRoutesOptions, guard: RouteGuard): Router {
  /** The news of a container are passed on meanwhile. Followed before it is read: nothing that is written in between is missed. */
  const following = async <T>(containerId: Uuid, work: () => Promise<T>): Promise<T> => {
    const unfollow = await containerLog.follow(containerId, () => notifier.notify(containerId));
    return work().finally(unfollow);
  };
  return mountRoutes(logRoutes, guard, {
    async readOnInLog({ resource, query: { waitS, ...query }, requireAccess, res }) {
      const { id } = resource;
      const isLambda = typeOf(resource).collection === 'lambdas';
      let from = query.after;
      const findInLambda = () => {
        const found = lambdaLog.readLog(id, { ...query, after: from });
        // What is not wanted, such as standard error, is not looked through again.
        from = found.cursor;
        return found;
      };
      const find = isLambda ? findInLambda : containerPage(containerLog, id, query);
      const read = () => notifier.waitFor<LogPage>(find, hasNews, { topic: id, waitS, requireAccess, res });
      const page = await (isLambda || waitS === 0 ? read() : following(id, read));
      return { ...page, lines: page.lines.map(toLineView) };
    },
    followLog({ resource: record, query, requireAccess, req, res }) {
      const { id } = record;
      // A browser that reconnects sends this header; it takes precedence over the cursor in the address.
      const header = req.headers['last-event-id'];
      const after = typeof header === 'string' && header !== '' ? header : query.after;
      const waiting = { notifier, topic: id, requireAccess };
      if (typeOf(record).collection === 'lambdas')
        return streamLog(res, after, (cursor) => lambdaLog.readLog(id, { after: cursor }), waiting);
      return following(id, () => streamLog(res, after, containerStream(containerLog, id), waiting));
    },
  });
}
