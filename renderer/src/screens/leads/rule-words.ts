import {
  type NetworkError,
  type OutboundAction,
  type OutboundRule,
  OWN_CRM,
} from '../../../../server/model/outbound-rule.ts';
import { durationText } from '../../parts/amounts.ts';
import type { Option } from '../../parts/fields.tsx';
import type { RuleRequest } from './use-outbound-rules.ts';

export const ACTIONS: readonly (Option & { id: OutboundAction })[] = [
  { id: 'catch', text: 'Catch', note: 'The CRM stand-in answers; the host never hears of it.' },
  { id: 'pass', text: 'Pass', note: 'The call goes to its host.' },
  { id: 'block', text: 'Block', note: 'The connection is refused.' },
  { id: 'delay', text: 'Delay', note: 'The call waits, then the rules below decide.' },
  { id: 'fail', text: 'Fail', note: 'A status of your choice, or an error of the network.' },
];

export const ERRORS: readonly (Option & { id: NetworkError })[] = [
  { id: 'ECONNREFUSED', text: 'ECONNREFUSED', note: 'Nobody listens there.' },
  { id: 'ECONNRESET', text: 'ECONNRESET', note: 'The connection breaks.' },
  { id: 'ENOTFOUND', text: 'ENOTFOUND', note: 'The name is not known.' },
  { id: 'ETIMEDOUT', text: 'ETIMEDOUT', note: 'No answer to the connection.' },
];

/** What goes wrong most often, ready to be switched on. */
export const PRESETS: readonly { id: string; text: string; rule: RuleRequest }[] = [
  { id: 'crm-500', text: 'CRM answers 500', rule: { host: OWN_CRM, action: 'fail', status: 500, enabled: true } },
  { id: 'crm-slow', text: 'CRM takes 3 s', rule: { host: OWN_CRM, action: 'delay', delayMs: 3_000, enabled: true } },
  {
    id: 'crm-down',
    text: 'CRM is down',
    rule: { host: OWN_CRM, action: 'fail', error: 'ECONNREFUSED', enabled: true },
  },
  {
    id: 'crm-lost',
    text: 'CRM cannot be found',
    rule: { host: OWN_CRM, action: 'fail', error: 'ENOTFOUND', enabled: true },
  },
  { id: 'cut', text: 'No way out for anybody', rule: { host: '*', action: 'block', enabled: true } },
];

/** What a rule does, for its row. */
export function effectOf({ action, delayMs, status, error }: Omit<OutboundRule, 'id' | 'host' | 'enabled'>): string {
  switch (action) {
    case 'catch':
      return 'caught by the CRM stand-in';
    case 'pass':
      return 'goes to its host';
    case 'block':
      return 'connection refused';
    case 'delay':
      return `waits ${durationText(delayMs ?? 0)}, then goes on below`;
    default:
      return status === undefined ? `fails with ${error}` : `answered ${status}`;
  }
}
