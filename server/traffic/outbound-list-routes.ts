import type { Router } from 'express';
import { outboundListRows } from '../contract/recorded-parts.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { outboundQuery } from '../model/recorded-part-queries.ts';
import { scopeOf } from '../model/scope.ts';
import { hiding } from './hiding.ts';
import { factsOfCall, newestCall, pageOfCalls, shownCall } from './outbound-list.ts';
import type { Recorder } from './recorder.ts';
import { readQuery } from './recorder-routes.ts';

export interface OutboundListOptions {
  recorder: Recorder;
  /** Texts that nobody may read in what was recorded, as they stand now: values of masked variables. */
  secrets(): readonly string[];
  /** Epoch milliseconds. */
  nowMs(): number;
}

/** The calls of all lambdas, as one list: whoever may view a lambda sees what it called. */
export function outboundListRoutes({ recorder, secrets, nowMs }: OutboundListOptions, gate: Gate): Router {
  return serve(outboundListRows, gate, {
    listOutboundCalls({ caller, query: { q = '', lambda, scope, ...page } }) {
      const hide = hiding(secrets());
      const query = readQuery(outboundQuery(q, nowMs()));
      const isInScope = scopeOf(gate.view, scope);
      const { sees } = eyesOf(gate, caller);
      const { calls, next } = pageOfCalls(recorder, {
        ...page,
        fromMs: query.fromMs,
        isOf: ({ lambdaId }) =>
          sees(lambdaId) && (lambda === undefined || lambdaId === lambda.toLowerCase()) && isInScope(lambdaId),
        isWanted: (call) => query.matches(hide.facts(factsOfCall(call))),
      });
      return {
        calls: calls.map((call) => hide.value(shownCall(call))),
        newest: newestCall(recorder),
        run: recorder.run,
        ...(next !== undefined && { next }),
      };
    },
  });
}
