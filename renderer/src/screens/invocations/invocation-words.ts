import type { Condition } from '../../parts/state.tsx';
import { parseQuery, type Query, type QueryField } from '../../query/query-language.ts';
import type { InvocationSummary } from './use-invocations.ts';

type Outcome = Pick<InvocationSummary, 'outcome'>;

/** How it went, in one word: `ok`, or the kind of its failure. */
export function statusOf({ outcome }: Outcome): string {
  return outcome.ok ? 'ok' : (outcome.failure ?? 'error');
}

export function conditionOf({ outcome }: Outcome): Condition {
  if (outcome.ok) return 'ok';
  return outcome.failure === 'busy' || outcome.failure === 'interrupted' ? 'warning' : 'error';
}

/** The result or the error, as one line. */
export function excerptOf({ outcome }: Outcome): string {
  if (!outcome.ok) return outcome.message ?? '';
  if (outcome.result === undefined) return '';
  return typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result);
}

const FIELDS: readonly QueryField<InvocationSummary>[] = [
  // Any failure is an error, too.
  { name: 'status', valueOf: (row) => (row.outcome.ok ? 'ok' : [statusOf(row), 'error']) },
  { name: 'lambda', valueOf: ({ lambdaName, lambdaId }) => [lambdaName, lambdaId] },
  { name: 'trigger', valueOf: ({ trigger }) => trigger },
  { name: 'dur', valueOf: ({ durationMs }) => durationMs },
  { name: 'out', valueOf: ({ outboundCalls }) => outboundCalls },
  { name: 'logs', valueOf: ({ logLines }) => logLines },
  { name: 'start', valueOf: ({ cold }) => (cold ? 'cold' : 'warm') },
  { name: 'id', valueOf: ({ executionId }) => executionId },
];

/** A query of invocations, e.g. `status:error lambda:webform dur:>200 text`. */
export function invocationQuery(text: string): Query<InvocationSummary> {
  return parseQuery(
    text,
    FIELDS,
    (row) => `${row.lambdaName} ${row.trigger} ${row.executionId} ${statusOf(row)} ${excerptOf(row)}`,
  );
}

/** What probably went wrong, and what to do next. */
export function adviceOn(failure: string | undefined): string {
  switch (failure) {
    case 'timeout':
      return 'It did not call back within its time-out. See in the waterfall what it waited for, or give it more time.';
    case 'crash':
      return 'Its process ended, ran out of memory, or gave something that could not be read. Its log may say why.';
    case 'load':
      return 'Its code could not be loaded, or has no such handler. Check the code and the name of the handler.';
    case 'too-large':
      return 'Its result is over the limit. Answer with less, or raise the limit in the settings.';
    case 'deleted':
      return 'There is no such lambda any more.';
    case 'busy':
      return 'All its processes were busy and its queue was full.';
    case 'runtime':
      return 'Its runtime is not emulated; NodeJS is.';
    case 'interrupted':
      return 'The emulator stopped before it ended.';
    default:
      return 'The handler called back with an error or threw one. Its log and outbound calls may say why.';
  }
}
