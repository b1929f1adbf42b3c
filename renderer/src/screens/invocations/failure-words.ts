import type { FailureReplayed } from '../../../../server/api/routes/recorded.ts';
import type { CauseCandidate, FailureRun } from '../../api/use-failures.ts';
import { counted } from '../../components/amounts.ts';

const NAMES: Record<FailureRun['kind'], readonly [string, string]> = {
  form: ['undelivered form', 'undelivered forms'],
  call: ['failed invocation', 'failed invocations'],
  invocation: ['failed invocation', 'failed invocations'],
};

/** Returns the label of the button: `replay the 2 undelivered forms`. */
export function replayWords({ kind, lost }: Pick<FailureRun, 'kind' | 'lost'>): string {
  return lost === 1 ? `replay the ${NAMES[kind][0]}` : `replay the ${counted(lost, ...NAMES[kind])}`;
}

/** Returns the action of a commit, up to the name of the resource: `removed CRM_OID on`, `created`. */
export function changeWords(changes: readonly string[]): string {
  if (changes.includes('created it')) return 'created';
  return changes.includes('removed it') ? 'deleted' : `${changes.join(', ')} on`;
}

/** Returns the effect of undoing a change, before it is undone: `To undo it sets CRM_OID again and removes REGION.` */
export function undoWords({ changes, others: otherChanges }: Pick<CauseCandidate, 'changes' | 'others'>): string {
  const opposites = changes.map((change) => {
    const [verb = '', ...nameParts] = change.split(' ');
    const name = nameParts.join(' ');
    if (name === 'it') return verb === 'removed' ? 'restores it' : 'deletes it';
    if (verb === 'removed') return `sets ${name} again`;
    return verb === 'set' ? `removes ${name}` : `restores the earlier ${name.replace(/^(the|its) /, '')}`;
  });
  const more =
    otherChanges.length === 0 ? '' : ` It also undoes what the same commit changed in ${otherChanges.join(', ')}.`;
  return `Undoing it ${opposites.join(', ')}.${more}`;
}

/** Returns the number of failures and successes: `3 times, 1 invocation succeeded since`. */
export function countWords({ count, succeeded }: Pick<FailureRun, 'count' | 'succeeded'>): string {
  const failed = counted(count, 'time');
  return succeeded === 0 ? failed : `${failed}, ${counted(succeeded, 'invocation')} succeeded since`;
}

/** Returns a sentence about the replayed records once nothing is lost any more. */
export function lostWords({ kind, count }: Pick<FailureRun, 'kind' | 'count'>): string {
  const all = count === 1 ? 'Replayed' : 'All replayed';
  return kind === 'form' ? `${all} and delivered.` : `${all} successfully.`;
}

export function outcomeWords(
  { kind }: Pick<FailureRun, 'kind'>,
  { replayed, good, notKept, left: remainingCount }: Omit<FailureReplayed, 'invocations'>,
): string {
  const share = `${good.toLocaleString('en')} of ${replayed.toLocaleString('en')}`;
  const delivered =
    kind === 'form'
      ? `${replayed === 1 ? 'form' : 'forms'} delivered`
      : `${replayed === 1 ? 'replay' : 'replays'} succeeded`;
  const parts = [good === 0 && replayed > 0 ? `${counted(replayed, 'replay')} failed again` : `${share} ${delivered}`];
  if (notKept > 0) parts.push(`${notKept.toLocaleString('en')} could not be replayed: their events were not stored`);
  if (remainingCount > 0) parts.push(`${remainingCount.toLocaleString('en')} left`);
  return `${parts.join('; ')}.`;
}

/** As a sentence begins. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
