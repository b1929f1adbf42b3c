import {
  type NetworkError,
  type OutboundAction,
  type OutboundRule,
  OWN_CRM,
} from '../../../../server/model/outbound-rule.ts';
import { durationText } from '../../components/amounts.ts';
import type { Option } from '../../components/fields.tsx';
import type { RuleRequest } from './use-outbound-rules.ts';

export const ACTIONS: readonly (Option & { id: OutboundAction })[] = [
  { id: 'catch', text: 'Catch', note: 'The mock CRM responds; the call does not reach the host.' },
  { id: 'pass', text: 'Pass', note: 'The call goes to its host.' },
  { id: 'block', text: 'Block', note: 'The connection is refused.' },
  { id: 'delay', text: 'Delay', note: 'The call waits, then the next rules apply.' },
  { id: 'fail', text: 'Fail', note: 'A status or a network error of your choice.' },
  { id: 'answer', text: 'Answer', note: 'A response of your own.' },
];

export const ERRORS: readonly (Option & { id: NetworkError })[] = [
  { id: 'ECONNREFUSED', text: 'ECONNREFUSED', note: 'Connection refused: nothing listens at the address.' },
  { id: 'ECONNRESET', text: 'ECONNRESET', note: 'The connection breaks.' },
  { id: 'ENOTFOUND', text: 'ENOTFOUND', note: 'The name is not known.' },
  { id: 'ETIMEDOUT', text: 'ETIMEDOUT', note: 'The connection times out.' },
];

/** The most common faults, as rules to enable. */
export const PRESETS: readonly { id: string; text: string; rule: RuleRequest }[] = [
  { id: 'crm-500', text: 'CRM returns 500', rule: { host: OWN_CRM, action: 'fail', status: 500, enabled: true } },
  { id: 'crm-slow', text: 'CRM takes 3 s', rule: { host: OWN_CRM, action: 'delay', delayMs: 3_000, enabled: true } },
  {
    id: 'crm-down',
    text: 'CRM is down',
    rule: { host: OWN_CRM, action: 'fail', error: 'ECONNREFUSED', enabled: true },
  },
  {
    id: 'crm-lost',
    text: 'CRM host not found (DNS)',
    rule: { host: OWN_CRM, action: 'fail', error: 'ENOTFOUND', enabled: true },
  },
  { id: 'cut', text: 'Block all calls', rule: { host: '*', action: 'block', enabled: true } },
];

/** Returns the effect of a rule, for its row. */
export function effectOf({
  action,
  delayMs,
  status,
  error,
  times,
  after,
}: Omit<OutboundRule, 'id' | 'host' | 'enabled'>): string {
  switch (action) {
    case 'catch':
      return 'caught by the mock CRM';
    case 'pass':
      return 'goes to its host';
    case 'block':
      return 'connection refused';
    case 'delay':
      return `waits ${durationText(delayMs ?? 0)}, then the next rules apply`;
    case 'answer':
      return `answers with ${status ?? 200}${countText({ times, after })}`;
    default:
      return status === undefined ? `fails with ${error}` : `returns ${status}`;
  }
}

function countText({ times, after }: Pick<OutboundRule, 'times' | 'after'>): string {
  const calls = times === undefined ? 'all calls' : times === 1 ? 'one call' : `${times} calls`;
  if (after) return `, ${calls} after the first ${after === 1 ? 'one' : after}`;
  return times === undefined ? '' : `, ${calls}`;
}
