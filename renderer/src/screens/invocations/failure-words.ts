import type { FailureReplayed } from '../../../../server/contract/recorded.ts';
import type { FailureRun } from '../../api/failures.ts';
import { counted } from '../../parts/amounts.ts';

/** What came to nothing is called so: one, and several of them. */
const NAMES: Record<FailureRun['kind'], readonly [string, string]> = {
  form: ['lost form', 'lost forms'],
  call: ['failed invocation', 'failed invocations'],
  invocation: ['failed invocation', 'failed invocations'],
};

/** What the button does: `replay the 2 lost forms`. */
export function replayWords({ kind, lost }: Pick<FailureRun, 'kind' | 'lost'>): string {
  return lost === 1 ? `replay the ${NAMES[kind][0]}` : `replay the ${counted(lost, ...NAMES[kind])}`;
}

/** What has become of it all once nothing is lost any more. */
export function lostWords({ kind, count }: Pick<FailureRun, 'kind' | 'count'>): string {
  const [one, several] = kind === 'form' ? ['The form was', 'All of the forms were'] : ['It was', 'All of them were'];
  return `${count === 1 ? one : several} replayed since, and ${kind === 'form' ? 'arrived' : 'went well'}.`;
}

/** What came of it, in a sentence. */
export function outcomeWords(
  { kind }: Pick<FailureRun, 'kind'>,
  { replayed, good, notKept, left }: Omit<FailureReplayed, 'invocations'>,
): string {
  const done = kind === 'form' ? 'arrived' : 'went well';
  const parts = [`${good.toLocaleString('en')} of ${counted(replayed, ...NAMES[kind])} ${done}`];
  if (notKept > 0) parts.push(`${notKept.toLocaleString('en')} could not be replayed: their events were not kept`);
  if (left > 0) parts.push(`${left.toLocaleString('en')} are left`);
  return `${parts.join('; ')}.`;
}

/** As a sentence begins. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
