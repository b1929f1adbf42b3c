import type { Condition } from '../../parts/state.tsx';

interface Ended {
  /** Undefined while it waits or runs. */
  outcome?: { ok: boolean; failure?: string } | undefined;
  /** Calls that it made and that came to nothing. */
  outboundFailures?: number | undefined;
}

/** How it went, in a word or two: `running`, `ok`, the kind of its failure, or that a call it made came to nothing. */
export function statusOf({ outcome, outboundFailures }: Ended): string {
  if (!outcome) return 'running';
  if (!outcome.ok) return outcome.failure ?? 'error';
  return outboundFailures ? callsFailed(outboundFailures) : 'ok';
}

/** So many calls came to nothing, in words. */
export function callsFailed(count: number): string {
  return count === 1 ? 'call failed' : `${count.toLocaleString('en')} calls failed`;
}

export function conditionOf({ outcome, outboundFailures }: Ended): Condition {
  if (!outcome) return 'running';
  // What happened to its purpose counts: a lead that the CRM refused is lost although the visitor read SUCCESS.
  if (outcome.ok) return outboundFailures ? 'error' : 'ok';
  return outcome.failure === 'busy' || outcome.failure === 'interrupted' ? 'warning' : 'error';
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
