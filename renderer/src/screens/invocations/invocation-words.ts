import type { Condition } from '../../parts/state.tsx';

interface Ended {
  /** Undefined while it waits or runs. */
  outcome?: { ok: boolean; failure?: string } | undefined;
}

/** How it went, in one word: `running`, `ok`, or the kind of its failure. */
export function statusOf({ outcome }: Ended): string {
  if (!outcome) return 'running';
  return outcome.ok ? 'ok' : (outcome.failure ?? 'error');
}

export function conditionOf({ outcome }: Ended): Condition {
  if (!outcome) return 'running';
  if (outcome.ok) return 'ok';
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
