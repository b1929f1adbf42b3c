import type { Condition } from '../../components/state.tsx';
import type { WindowLocation } from '../../url.ts';
import type { FormStop, FormView } from './use-leads.ts';

/** The state of a form in a row, and why no lead came of it, as the title of its detail. */
export const STOPS: Readonly<Record<FormStop, { is: Condition; text: string }>> = {
  delivered: { is: 'ok', text: 'delivered' },
  replayed: { is: 'idle', text: 'delivered on replay' },
  rejected: { is: 'error', text: 'rejected by the CRM' },
  answered: { is: 'warning', text: 'answered by a rule' },
  call: { is: 'error', text: 'outbound call failed' },
  failed: { is: 'error', text: 'lambda failed' },
  invalid: { is: 'error', text: 'invalid JSON' },
  unsent: { is: 'error', text: 'not sent by the lambda' },
  limited: { is: 'warning', text: 'over the rate limit' },
  unauthorized: { is: 'warning', text: 'not authorized' },
  gateway: { is: 'warning', text: 'rejected by the gateway' },
};

export function nextStepOf({
  id,
  stop,
  rule,
  lambdaId,
  endpointId,
  executionId,
  requestSeq,
}: FormView): { text: string; location: WindowLocation } | undefined {
  if (stop === 'delivered' || stop === 'replayed') return undefined;
  if (rule) return { text: 'Open the rule', location: { screen: 'leads', search: { tab: 'rules' } } };
  if (stop === 'limited' && endpointId !== undefined)
    return { text: 'Raise the limit', location: { screen: 'resources', id: endpointId } };
  if (stop === 'unauthorized' && endpointId !== undefined)
    return { text: 'Open the endpoint', location: { screen: 'resources', id: endpointId } };
  if (stop === 'invalid')
    return {
      text: 'Edit and replay',
      location: { screen: 'invocations', search: { sel: executionId, dialog: 'edit' } },
    };
  if (stop === 'unsent' && lambdaId !== undefined)
    return { text: 'Open the lambda', location: { screen: 'lambdas', id: lambdaId } };
  if (requestSeq !== undefined)
    return { text: 'Open the request', location: { screen: 'gateway', search: { sel: String(requestSeq) } } };
  return { text: 'Replay', location: { screen: 'leads', search: { sel: id } } };
}
