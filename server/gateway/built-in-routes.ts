import { PlatformError } from '../model/errors.ts';
import { isUuid, parseUuid, type Uuid } from '../model/ids.ts';
import { isJsonObject, memberOf } from '../model/json.ts';
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
  readonly #invoke: BuiltInRoute = {
    methods: new Set(['POST']),
    cors: ANY_ORIGIN,
    answer: (exchange, target) => this.#acceptCall(exchange, target),
  };
  readonly #result: BuiltInRoute = {
    methods: new Set(['GET']),
    cors: ANY_ORIGIN,
    answer: async (exchange, target) => this.#readResult(exchange, target.segments[1] ?? ''),
  };

  constructor(parts: BuiltInParts) {
    this.#parts = parts;
  }

  /** The route of a path, by its decoded segments. */
  find(segments: readonly string[]): BuiltInRoute | undefined {
    if (segments.length !== 2) return undefined;
    if (segments[0] === 'results') return this.#result;
    return segments[0] === 'api' && segments[1] === 'async' ? this.#invoke : undefined;
  }

  async #acceptCall(exchange: Exchange, target: RequestTarget): Promise<Answer> {
    const { view, callers, calls, requestBodyBytes } = this.#parts;
    const body = await readBody(exchange.request, exchange.response, requestBodyBytes);
    exchange.body = body;
    const lambdaId = lambdaIdIn(body);
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
  return jsonAnswer(200, { contentType, executionId, executionTime: finishedAtMs, lambdaId, result, ...failure });
}

function lambdaIdIn(body: Uint8Array): Uuid {
  let event: unknown;
  try {
    event = JSON.parse(Buffer.from(body).toString());
  } catch (cause) {
    throw new PlatformError(400, 'the body must be a JSON object with the lambdaId to invoke', { cause });
  }
  const lambdaId = memberOf(event, 'lambdaId');
  if (!isUuid(lambdaId)) {
    const pointer = isJsonObject(event) ? '/lambdaId' : '/';
    throw new PlatformError(400, "the body must be a JSON object whose 'lambdaId' is a UUID", {
      details: [{ pointer, message: 'must name the lambda to invoke' }],
    });
  }
  return lambdaId.toLowerCase();
}
