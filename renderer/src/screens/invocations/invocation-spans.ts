import { isFailedCall } from '../../../../server/model/failed-call.ts';
import type { InvocationDetail } from './use-invocations.ts';
import type { Span } from './waterfall.tsx';

const STEPS: Readonly<Record<string, string>> = {
  route: 'route',
  auth: 'authenticate',
  limit: 'rate limit',
  body: 'read the body',
};

/** Time of an invocation by part, from the gateway's first step to the response, as far as it is known. */
export function spansOf(invocation: InvocationDetail): Span[] {
  const { acceptedAt, startedAt, finishedAt, outcome, request, outbound, cold, trigger, logs } = invocation;
  const finishedMs = momentOf(finishedAt);
  const startedMs = startedAt === undefined ? finishedMs : momentOf(startedAt);
  const spans: Span[] = [];
  if (request) {
    const arrivedMs = momentOf(request.at);
    const endMs = arrivedMs + request.durationMs;
    spans.push({ name: 'gateway', note: request.method, startMs: arrivedMs, endMs, tone: 'gateway' });
    spans.push(...gatewaySteps(request.steps, arrivedMs));
    // An asynchronous call gets its response while it runs.
    if (trigger === 'gateway' && endMs > finishedMs) {
      const note = request.status === undefined ? 'not taken' : String(request.status);
      spans.push({ name: 'answer', note, startMs: finishedMs, endMs, tone: 'gateway' });
    }
  }
  // If no process is idle, one is started.
  const before = cold ? { name: 'child', note: 'cold start' } : { name: 'queue', note: '' };
  spans.push({ ...before, startMs: momentOf(acceptedAt), endMs: startedMs, tone: 'queue' });
  if (startedAt !== undefined) {
    const marks = logs.map(({ at, text }) => ({ atMs: momentOf(at), text }));
    const tone = outcome.ok ? 'handler' : 'error';
    spans.push({ name: 'handler', startMs: startedMs, endMs: finishedMs, tone, marks });
  }
  for (const call of outbound) {
    const startMs = momentOf(call.startedAt);
    const tone = isFailedCall(call) ? 'error' : 'outbound';
    const note = hostOf(call.url);
    spans.push({ name: call.method, note, startMs, endMs: startMs + call.durationMs, tone, depth: 1 });
  }
  // In the order of their start; of spans with the same start, the enclosing one comes first.
  return spans.sort((a, b) => a.startMs - b.startMs || b.endMs - a.endMs);
}

function gatewaySteps(steps: readonly { name: string; afterMs: number }[], arrivedMs: number): Span[] {
  return steps.flatMap(({ name, afterMs }, index) => {
    const displayName = STEPS[name];
    if (displayName === undefined) return [];
    const startMs = arrivedMs + (steps[index - 1]?.afterMs ?? 0);
    return [{ name: displayName, startMs, endMs: arrivedMs + afterMs, tone: 'gateway' as const, depth: 1 }];
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
