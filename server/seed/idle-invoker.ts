import type { LambdaInvoker, Outcome } from '../model/invocation.ts';

/** Runs no lambda: what event rules would invoke while a world is made or tried out is left out. */
export const idleInvoker: LambdaInvoker = {
  invoke: async (lambdaId, { executionId, trigger }) => ({
    executionId,
    lambdaId,
    lambdaName: '',
    trigger,
    acceptedAtMs: 0,
    finishedAtMs: 0,
    cold: false,
    outcome: NOT_RUN,
    logs: [],
    outbound: [],
  }),
  refusal: () => NOT_RUN,
  holdPlace: () => () => {},
};

const NOT_RUN: Outcome = {
  ok: false,
  failure: 'interrupted',
  message: 'no lambda runs while a world is seeded',
  value: { kind: 'nothing' },
};
