import express, { type Request, type Router } from 'express';
import { answerErrors } from '../http/answer-error.ts';
import { booleanParameter, queryOf, singleParameter } from '../http/query.ts';
import type { Authenticator, Caller, Judge } from '../model/caller.ts';
import { forbidden, PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import type { WorldView } from '../model/world-view.ts';

/** Captured output of lambdas or containers (D-191). */
export interface LogSource {
  /** Lines newest last. Throws 400 for a malformed `time` or `stderr`. */
  log(resourceId: string, query: { time?: string | undefined; stderr?: string | undefined }): readonly string[];
}

export interface InspectorOptions {
  view: WorldView;
  authenticator: Authenticator;
  judge: Judge;
  lambdaLog: LogSource;
  /** Caught leads, oldest first; throws 400 for an unknown filter. */
  leads(query: URLSearchParams): readonly object[];
  securityUrlFor(request: Request): string;
  onFault(fault: unknown): void;
}

/** What is seen of the platform beyond its contract: `/inspect/leads` and the logs of `/log` (D-001, D-191, D-200). */
export function inspectorRoutes(options: InspectorOptions): { inspect: Router; log: Router } {
  const { view, judge } = options;

  const callerOf = (req: Request): Caller => {
    const identification = options.authenticator.identify(req.headers.authorization);
    if (identification.kind === 'caller') return identification.caller;
    throw new PlatformError(401, 'Authentication required', {
      headers: {
        'WWW-Authenticate': `Bearer realm="${options.securityUrlFor(req)}/root/oauth/issue", error="invalid_token"`,
      },
    });
  };
  const viewable = (req: Request, word: 'lambdas' | 'containers'): StoredResource => {
    const caller = callerOf(req);
    const id = parseUuid(String(req.params.id));
    const found = view.find(id);
    if (!found || typeOf(found).word !== word) throw new PlatformError(404, `${word} ${id} not found`);
    const action = `${typeOf(found).noun}.view`;
    if (!judge.may(caller, action, found.id)) throw forbidden(action);
    return found;
  };

  const inspect = express.Router({ caseSensitive: true });
  inspect.get('/leads', (req, res) => {
    const caller = callerOf(req);
    if (!judge.may(caller, 'org.view', view.root.id)) throw forbidden('org.view');
    res.json(options.leads(queryOf(req)));
  });

  const log = express.Router({ caseSensitive: true });
  log.get('/lambda/:id', (req, res) => {
    const lambda = viewable(req, 'lambdas');
    const query = queryOf(req);
    res.json(
      options.lambdaLog.log(lambda.id, {
        time: singleParameter(query, 'time'),
        stderr: singleParameter(query, 'stderr'),
      }),
    );
  });
  log.get('/container/:id', (req) => {
    viewable(req, 'containers');
    booleanParameter(queryOf(req), 'stderr');
    throw new PlatformError(503, 'container logs need a container engine, and none is attached', {
      headers: { 'Retry-After': '5' },
    });
  });
  for (const router of [inspect, log]) {
    router.use((req) => {
      throw new PlatformError(404, `no route: ${req.method} ${req.originalUrl.split('?', 1)[0]}`);
    });
    router.use(answerErrors(options.onFault));
  }
  return { inspect, log };
}
