import { builtInRows } from '../contract/gateway.ts';
import type { PathOf } from '../contract/row.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import { LAMBDA } from '../model/types/lambda.ts';
import type { WorldView } from '../model/world-view.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import type { AsyncCalls } from './async-calls.ts';
import type { AsyncResults, FinishedResult } from './async-results.ts';
import type { CallerCheck } from './caller-check.ts';
import { ANY_ORIGIN, type CorsPolicy } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { lambdaCall } from './lambda-call.ts';
import { readBody } from './request-body.ts';
import type { RequestTarget } from './request-target.ts';

/** A route that the gateway answers itself. */
export interface BuiltInRoute {
  readonly methods: ReadonlySet<string>;
  readonly cors: CorsPolicy;
  answer(exchange: Exchange, target: RequestTarget): Promise<Answer>;
}

type Table = typeof builtInRows;
/** What answers each row. */
type Handlers = {
  readonly [Id in keyof Table]: (
    exchange: Exchange,
    target: RequestTarget,
    path: PathOf<Table[Id]>,
  ) => Answer | Promise<Answer>;
};

interface BuiltInParts {
  view: WorldView;
  callers: CallerCheck;
  calls: AsyncCalls;
  results: AsyncResults;
  requestBodyBytes: number;
}

/** The gateway's own routes: `POST /api/async` (D-165) and `GET /results/{id}` (D-166..D-169). */
export class BuiltInRoutes {
  readonly #parts: BuiltInParts;
  /** Of a path's parts those are undefined that stand for something. */
  readonly #routes: readonly { parts: readonly (string | undefined)[]; route: BuiltInRoute }[];

  constructor(parts: BuiltInParts) {
    this.#parts = parts;
    const handlers: Handlers = {
      invokeAsync: (exchange, target) => this.#acceptCall(exchange, target),
      readResult: (exchange, _, path) => this.#readResult(exchange, path.result_id),
    };
    this.#routes = Object.entries(builtInRows).map(([id, { route }]) => {
      const [method = '', address = ''] = route.split(' ');
      const names = address.split('/').slice(1);
      // As: a row has its own handler, which takes what stands in its path.
      const answer = handlers[id as keyof Table] as (exchange: Exchange, target: RequestTarget, path: object) => Answer;
      return {
        parts: names.map((name) => (inside(name) === name ? name : undefined)),
        route: {
          methods: new Set([method.toUpperCase()]),
          cors: ANY_ORIGIN,
          answer: async (exchange, target) =>
            answer(exchange, target, Object.fromEntries(names.map((name, at) => [inside(name), target.segments[at]]))),
        },
      };
    });
  }

  /** The route of a path, by its decoded segments. */
  find(segments: readonly string[]): BuiltInRoute | undefined {
    return this.#routes.find(
      ({ parts }) =>
        parts.length === segments.length && parts.every((part, at) => part === undefined || part === segments[at]),
    )?.route;
  }

  async #acceptCall(exchange: Exchange, target: RequestTarget): Promise<Answer> {
    const { view, callers, calls, requestBodyBytes } = this.#parts;
    const body = await readBody(exchange.request, exchange.response, requestBodyBytes);
    exchange.body = body;
    const { lambdaId } = builtInRows.invokeAsync.body.read(jsonOf(body));
    const lambda = view.find(lambdaId);
    if (lambda?.type !== LAMBDA) throw new PlatformError(404, `lambda '${lambdaId}' not found`);
    const who = callers.identify(exchange);
    callers.requireInvoke(who, lambda);
    const { query } = target;
    const call = lambdaCall(exchange, { trigger: 'async', body, path: '', query, who, isHttpAware: false });
    return calls.accept(lambda.id, call);
  }

  #readResult(exchange: Exchange, written: string): Answer {
    const { view, callers, results } = this.#parts;
    const caller = callers.requireBearer(callers.identify(exchange));
    const id = parseUuid(written, 'result id');
    const lambda = view.find(id);
    if (lambda?.type === LAMBDA) {
      callers.requireRight(caller, 'lambda.view', id);
      const latest = results.findLatest(id);
      if (!latest) throw new PlatformError(404, `lambda '${lambda.name}' has no asynchronous result`);
      return resultAnswer(latest.executionId, latest.finished);
    }
    const stored = results.find(id);
    if (!stored) throw new PlatformError(404, `no result '${id}': it never was, or is past its time`);
    if (stored.state === 'pending') {
      throw new PlatformError(404, 'result not available yet', { headers: { 'Retry-After': '1' } });
    }
    return resultAnswer(id, stored);
  }
}

function resultAnswer(executionId: Uuid, finished: FinishedResult): Answer {
  const { contentType, finishedAtMs, lambdaId, result, error } = finished;
  const failure = error === undefined ? {} : { error };
  const executionTime = Math.floor(finishedAtMs); // the gateway's clock tells parts of milliseconds
  return jsonAnswer(200, { contentType, executionId, executionTime, lambdaId, result, ...failure });
}

/** The JSON of a body, whatever it is called. Throws 400. */
function jsonOf(body: Uint8Array): Json {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (cause) {
    throw new PlatformError(400, 'the body must be a JSON object with the lambdaId to invoke', { cause });
  }
}

/** The name in braces; what stands in none as it is. */
function inside(part: string): string {
  return part.replace(/^\{(.*)\}$/, '$1');
}
