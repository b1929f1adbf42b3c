import { isFailedCall } from '../../../../server/model/failed-call.ts';
import type { InvocationDetail } from './use-invocations.ts';
import type { Span } from './waterfall.tsx';

/** What the steps of the gateway are called. */
const STEPS: Readonly<Record<string, string>> = {
  route: 'route',
  auth: 'authenticate',
  limit: 'rate limit',
  body: 'read the body',
};

/** From the gateway's first step to the answer: where the time of an invocation went, as far as it is known. */
export function spansOf(invocation: InvocationDetail): Span[] {
  const { acceptedAt, startedAt, finishedAt, outcome, request, outbound, cold, trigger, logs } = invocation;
  const [acceptedMs, finishedMs] = [momentOf(acceptedAt), momentOf(finishedAt)];
  const startedMs = startedAt === undefined ? finishedMs : momentOf(startedAt);
  const arrivedMs = request && momentOf(request.at);
  // A call that nobody waits for is answered while it goes on.
  const isAwaited = trigger === 'gateway';
  const endMs = request && arrivedMs !== undefined ? arrivedMs + request.durationMs : finishedMs;
  const spans: Span[] = [
    ...(request && arrivedMs !== undefined
      ? [
          { name: 'gateway', note: request.method, startMs: arrivedMs, endMs, tone: 'gateway' as const },
          ...gatewaySteps(request.steps, arrivedMs),
        ]
      : []),
    {
      // Without a process that is free, one is made ready.
      name: cold ? 'child' : 'queue',
      note: cold ? 'cold start' : '',
      startMs: acceptedMs,
      endMs: startedMs,
      tone: 'queue',
    },
    ...(startedAt === undefined
      ? []
      : [
          {
            name: 'handler',
            startMs: startedMs,
            endMs: finishedMs,
            tone: outcome.ok ? ('handler' as const) : ('error' as const),
            marks: logs.map(({ at, text }) => ({ atMs: momentOf(at), text })),
          },
        ]),
    ...outbound.map((call) => ({
      name: call.method,
      note: hostOf(call.url),
      startMs: momentOf(call.startedAt),
      endMs: momentOf(call.startedAt) + call.durationMs,
      tone: isFailedCall(call) ? ('error' as const) : ('outbound' as const),
      depth: 1,
    })),
    ...(isAwaited && request && endMs > finishedMs
      ? [
          {
            name: 'answer',
            note: request.status === undefined ? 'not taken' : String(request.status),
            startMs: finishedMs,
            endMs,
            tone: 'gateway' as const,
          },
        ]
      : []),
  ];
  // In the order in which they began; of those that began together the one that holds the others comes first.
  return spans.sort((one, other) => one.startMs - other.startMs || other.endMs - one.endMs);
}

function gatewaySteps(steps: readonly { name: string; afterMs: number }[], arrivedMs: number): Span[] {
  return steps.flatMap(({ name, afterMs }, index) => {
    const shown = STEPS[name];
    if (shown === undefined) return [];
    const startMs = arrivedMs + (steps[index - 1]?.afterMs ?? 0);
    return [{ name: shown, startMs, endMs: arrivedMs + afterMs, tone: 'gateway' as const, depth: 1 }];
  });
}

/** Epoch milliseconds with their tenth, which `Date` knows nothing of. */
function momentOf(time: string): number {
  const [, tenth = '0'] = /\.\d{3}(\d)/.exec(time) ?? [];
  return Date.parse(time) + Number(tenth) / 10;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
