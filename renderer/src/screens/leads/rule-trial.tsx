import { useState } from 'react';
import { decideOutbound, type OutboundRule } from '../../../../server/model/outbound-rule.ts';
import { Switch, TextField } from '../../parts/fields.tsx';
import { deedOf } from './rule-words.ts';

/** Which rules would decide about an address, without any call. */
export function RuleTrial({ rules, catchesCrm }: { rules: readonly OutboundRule[]; catchesCrm: boolean }) {
  const [address, setAddress] = useState('https://crm.example/servlet/servlet.WebToLead');
  const [isCrm, setCrm] = useState(true);
  return (
    <section aria-label="Try an address" className="card flex flex-col gap-2 p-3">
      <div className="flex flex-wrap items-end gap-4">
        <TextField
          label="What would become of a call to"
          value={address}
          onChange={setAddress}
          isMono
          className="min-w-80 flex-1"
        />
        <Switch isSelected={isCrm} onChange={setCrm}>
          the lambda names it as its CRM
        </Switch>
      </div>
      <output className="text-muted">{answerTo(rules, address, isCrm, catchesCrm)}</output>
    </section>
  );
}

function answerTo(rules: readonly OutboundRule[], address: string, isCrm: boolean, catchesCrm: boolean): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url?.hostname) return 'That is no address; it begins with https:// or http://.';
  const port = Number(url.port) || (url.protocol === 'http:' ? 80 : 443);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const verdict = decideOutbound(rules, { hostname, port, isCrm }, catchesCrm);
  if (!verdict) return 'No rule means it: it goes to its host, as if nobody watched.';
  const { action, delayMs, status, error } = verdict;
  const numbers = verdict.rules.map(({ id }) => rules.findIndex((rule) => rule.id === id) + 1);
  const by =
    numbers.length === 0
      ? 'The setting outbound.crm decides'
      : `Rule ${numbers.join(' and rule ')} ${numbers.length === 1 ? 'decides' : 'decide'}`;
  const end = deedOf({ action, ...(status !== undefined && { status }), ...(error && { error }) });
  return `${by}: ${delayMs > 0 ? `waits ${delayMs} ms, then ` : ''}${end}.`;
}
