import { builtInRoutes } from '../api/routes/gateway.ts';
import { PlatformError } from '../model/errors.ts';
import { faultOfJson, type Json } from '../model/json.ts';
import { parseUuid, type Uuid, type WorldView } from '../model/record.ts';
import { LAMBDA } from '../model/types/lambda.ts';
import type { AsyncCalls, AsyncResults, FinishedResult } from './async-results.ts';
import type { CallerCheck } from './caller-check.ts';
import { ANY_ORIGIN, type CorsPolicy } from './cors.ts';
import { type Answer, type Exchange, jsonAnswer } from './exchange.ts';
import type { GatewayLimits } from './gateway-limits.ts';
import { lambdaCall } from './lambda-call.ts';
import { type RequestTarget, readBody } from './request.ts';

export interface BuiltInRoute {
  readonly methods: ReadonlySet<string>;
  readonly cors: CorsPolicy;
  answer(exchange: Exchange, target: RequestTarget): Promise<Answer>;
  /** Returns true if the route answers a request with this body even if an endpoint has its path; undefined: never. */
  takesPrecedence?(body: Uint8Array): boolean;
}

interface BuiltInParts {
  view: WorldView;
  callers: CallerCheck;
  calls: AsyncCalls;
  results: AsyncResults;
  limits: Pick<GatewayLimits, 'requestBodyBytes'>;
}

/** The gateway's own routes: `POST /api/async` (D-165) and `GET /results/{id}` (D-166..D-169). */
export class BuiltInRoutes {
  readonly #parts: BuiltInParts;
  readonly #invokeAsync: BuiltInRoute;
  readonly #readResult: BuiltInRoute;

  constructor(parts: BuiltInParts) {
    this.#parts = parts;
    this.#invokeAsync = {
      methods: new Set(['POST']),
      cors: ANY_ORIGIN,
      answer: (exchange, target) => this.#acceptCall(exchange, target),
      takesPrecedence: (body) => this.#namesLambda(body),
    };
    this.#readResult = {
      methods: new Set(['GET']),
      cors: ANY_ORIGIN,
      answer: async (exchange, { segments: [, id = ''] }) => this.#resultAnswer(exchange, id),
    };
  }

  /** The paths are those of `builtInRoutes`, from which the API document is made. */
  find(segments: readonly string[]): BuiltInRoute | undefined {
    const [first, second] = segments;
    if (segments.length !== 2) return undefined;
    if (first === 'api' && second === 'async') return this.#invokeAsync;
    return first === 'results' ? this.#readResult : undefined;
  }

  #namesLambda(body: Uint8Array): boolean {
    try {
      const { lambdaId } = builtInRoutes.invokeAsync.body.read(jsonOf(body));
      return this.#parts.view.find(lambdaId)?.type === LAMBDA;
    } catch {
      return false; // the endpoint may accept what is no JSON
    }
  }

  async #acceptCall(exchange: Exchange, target: RequestTarget): Promise<Answer> {
    const { view, callers, calls, limits } = this.#parts;
    exchange.body ??= await readBody(exchange.request, exchange.response, limits.requestBodyBytes);
    const { body } = exchange;
    const { lambdaId } = builtInRoutes.invokeAsync.body.read(jsonOf(body));
    const lambda = view.find(lambdaId);
    if (lambda?.type !== LAMBDA) throw new PlatformError('not_found', `lambda '${lambdaId}' not found`);
    exchange.targetName = `lambda ${lambda.id}`;
    const identification = callers.identify(exchange);
    callers.requireInvoke(identification, lambda);
    const { query } = target;
    const call = lambdaCall(exchange, { trigger: 'async', body, path: '', query, identification, isHttpAware: false });
    return calls.accept(lambda.id, call);
  }

  #resultAnswer(exchange: Exchange, written: string): Answer {
    const { view, callers, results } = this.#parts;
    const caller = callers.requireBearer(callers.identify(exchange));
    const id = parseUuid(written, 'result id');
    const lambda = view.find(id);
    if (lambda?.type === LAMBDA) {
      callers.requireRight(caller, 'lambda.view', id);
      const latest = results.findLatest(id);
      if (!latest) throw new PlatformError('not_found', `lambda '${lambda.name}' has no asynchronous result`);
      return resultAnswer(latest.executionId, latest.finished);
    }
    const stored = results.find(id);
    if (!stored)
      throw new PlatformError('not_found', `result '${id}' not found: the id is unknown or the result has expired`);
    if (stored.state === 'pending') {
      throw new PlatformError('result_pending', 'result not available yet', { headers: { 'Retry-After': '1' } });
    }
    return resultAnswer(id, stored);
  }
}

function resultAnswer(executionId: Uuid, finished: FinishedResult): Answer {
  const { contentType, finishedAtMs, lambdaId, result, isBase64Encoded, error } = finished;
  const more = { ...(isBase64Encoded && { isBase64Encoded }), ...(error !== undefined && { error }) };
  const executionTime = Math.floor(finishedAtMs); // the clock of the gateway has fractions of milliseconds
  return jsonAnswer(200, { contentType, executionId, executionTime, lambdaId, result, ...more });
}

function jsonOf(body: Uint8Array): Json {
  const text = Buffer.from(body).toString();
  const fault = faultOfJson(text);
  if (fault) throw new PlatformError('invalid_body', fault);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PlatformError('invalid_body', 'the body must be a JSON object with the lambdaId to invoke', { cause });
  }
}
