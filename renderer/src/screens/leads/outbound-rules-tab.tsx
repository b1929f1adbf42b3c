import { ArrowDown, ArrowUp, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ToggleButton } from 'react-aria-components';
import { decideOutbound, type OutboundRule, OWN_CRM } from '../../../../server/model/outbound-rule.ts';
import { useMissing } from '../../api/permissions.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { Switch, TextField } from '../../components/fields.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { announce } from '../../components/toasts.tsx';
import { useSearch } from '../../url.ts';
import { RuleDialog } from './rule-dialog.tsx';
import { effectOf, PRESETS } from './rule-words.ts';
import type { RuleRequest, useOutboundRules } from './use-outbound-rules.ts';

const NEW_RULE: RuleRequest = { host: OWN_CRM, action: 'fail', status: 503, enabled: true };

/** Rules for outbound calls: list, order, enable and disable. Every change applies at once. */
export function OutboundRulesTab({ rules: { query, change } }: { rules: ReturnType<typeof useOutboundRules> }) {
  const [{ dialog }, goOn] = useSearch();
  const [chosen, setEdited] = useState<RuleRequest>();
  const edited = chosen ?? (dialog === 'rule' ? NEW_RULE : undefined);
  const close = () => {
    setEdited(undefined);
    goOn({ dialog: undefined });
  };
  const missing = useMissing('root');
  if (!query.data) return <Pending query={query} />;
  const { rules, crm, default: policy } = query.data;
  const put = (next: readonly RuleRequest[], announcement: string) => {
    change.mutate(next, { onSuccess: () => announce(announcement) });
  };
  const keep = (rule: RuleRequest) => {
    const isNew = !rules.some(({ id }) => id === rule.id);
    put(
      isNew ? [rule, ...rules] : rules.map((existingRule) => (existingRule.id === rule.id ? rule : existingRule)),
      'Rule saved',
    );
  };
  const togglePreset = (preset: RuleRequest) => {
    const same = rules.find((rule) => isSame(rule, preset));
    const otherRules = rules.filter((rule) => rule !== same);
    // At the top, where it decides; but below delays, which are to be met first.
    const delays = otherRules.findIndex(({ action }) => action !== 'delay');
    const at = preset.action === 'delay' ? 0 : delays < 0 ? otherRules.length : delays;
    const toggled: RuleRequest = same ? { ...same, enabled: !same.enabled } : preset;
    put([...otherRules.slice(0, at), toggled, ...otherRules.slice(at)], effectOf(preset));
  };
  const move = (index: number, offset: number) => {
    const next = [...rules];
    const [moved] = next.splice(index, 1);
    if (moved) next.splice(index + offset, 0, moved);
    put(next, `Rule ${index + 1} is now number ${index + offset + 1}`);
  };
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4 px-4 py-4">
      <div className="flex flex-wrap items-start gap-x-6 gap-y-2">
        <p className="flex-1 basis-64 text-muted">
          Of the enabled rules that match a call, all delays up to the first other rule apply, then that rule. Changes
          take effect on the next call of any lambda. Each recorded call shows the rule that matched. {missing}
        </p>
        <Button icon={Plus} needs="root" onPress={() => setEdited(NEW_RULE)}>
          Add a rule
        </Button>
      </div>
      <section aria-label="Things that go wrong" className="flex flex-wrap items-center gap-2">
        <span className="eyebrow">Simulate a failure</span>
        {PRESETS.map(({ id, text, rule }) => (
          <ToggleButton
            key={id}
            isSelected={rules.some((existingRule) => existingRule.enabled && isSame(existingRule, rule))}
            isDisabled={change.isPending || missing !== undefined}
            onChange={() => togglePreset(rule)}
            className="inline-flex h-7 items-center rounded-md border border-line-strong bg-panel px-2.5 data-[disabled]:opacity-50 data-[hovered]:bg-raised data-[selected]:border-warn data-[selected]:font-medium data-[selected]:text-warn"
          >
            {text}
          </ToggleButton>
        ))}
      </section>
      <FailureNote error={change.error} />
      <div className="card overflow-x-auto">
        <table className="w-full">
          <caption className="sr-only">Outbound rules in the order of evaluation</caption>
          <TableHead
            heads={[
              { text: '#', className: 'w-12 pl-3 max-sm:w-6 max-sm:pr-0 max-sm:pl-1.5' },
              { text: 'On', className: 'w-20 max-sm:w-11' },
              'Calls to',
              'Effect',
              { text: 'Change', className: 'w-36 max-sm:w-14', isHidden: true },
            ]}
          />
          <tbody>
            {rules.map((rule, index) => (
              <tr key={rule.id} className={`h-9 border-b border-line/55 ${rule.enabled ? '' : 'text-muted'}`}>
                <td className="px-3 text-muted max-sm:px-1.5">{index + 1}</td>
                <td className="px-2">
                  <Switch
                    isSelected={rule.enabled}
                    isDisabled={change.isPending || missing !== undefined}
                    onChange={(enabled) => keep({ ...rule, enabled })}
                    aria-label={`Rule ${index + 1}: ${effectOf(rule)} for ${rule.host}`}
                  >
                    <span aria-hidden className="max-sm:hidden">
                      {rule.enabled ? 'on' : 'off'}
                    </span>
                  </Switch>
                </td>
                <td className="px-2">
                  <Host host={rule.host} />
                </td>
                <td className="px-2">
                  {effectOf(rule)}
                  <Shadow rules={rules} index={index} />
                </td>
                <td className="text-right sm:px-2 sm:whitespace-nowrap">
                  <IconButton
                    icon={ArrowUp}
                    needs="root"
                    label={`Move rule ${index + 1} up`}
                    isDisabled={index === 0 || change.isPending}
                    onPress={() => move(index, -1)}
                  />
                  <IconButton
                    icon={ArrowDown}
                    needs="root"
                    label={`Move rule ${index + 1} down`}
                    isDisabled={index === rules.length - 1 || change.isPending}
                    onPress={() => move(index, 1)}
                  />
                  <IconButton
                    needs="root"
                    icon={Pencil}
                    label={`Edit rule ${index + 1}`}
                    onPress={() => setEdited(rule)}
                  />
                  <IconButton
                    icon={Trash2}
                    needs="root"
                    label={`Delete rule ${index + 1}`}
                    isDisabled={change.isPending}
                    onPress={() =>
                      put(
                        rules.filter((existingRule) => existingRule !== rule),
                        'Rule deleted',
                      )
                    }
                  />
                </td>
              </tr>
            ))}
            <tr className="h-9 text-muted">
              <td className="px-3 max-sm:px-1.5">{rules.length + 1}</td>
              <td className="px-2">always</td>
              <td className="px-2">
                <Host host={OWN_CRM} />
              </td>
              <td className="px-2" colSpan={2}>
                {crm === 'catch' ? 'caught by the mock CRM' : 'goes to its host'}{' '}
                <span className="text-small">
                  (setting <code>outbound.crm</code>)
                </span>
              </td>
            </tr>
            <tr className="h-9 border-t border-line/55 text-muted">
              <td className="px-3 max-sm:px-1.5">{rules.length + 2}</td>
              <td className="px-2">always</td>
              <td className="px-2">all others outside this machine</td>
              <td className="px-2" colSpan={2}>
                {policy === 'block' ? 'blocked' : 'go to their hosts'}{' '}
                <span className="text-small">
                  (setting <code>outbound.default</code>)
                </span>
              </td>
            </tr>
          </tbody>
        </table>
      </div>
      <RuleTrial rules={rules} catchesCrm={crm === 'catch'} />
      {edited && (
        <RuleDialog
          rule={edited}
          onClose={close}
          onKeep={(rule) => {
            close();
            keep(rule);
          }}
        />
      )}
    </div>
  );
}

/** Says so when a rule is never asked, because one above it decides about the same calls. */
function Shadow({ rules, index }: { rules: readonly OutboundRule[]; index: number }) {
  const rule = rules[index];
  const above = rules.findIndex(
    ({ enabled, action, host }, at) =>
      at < index && enabled && action !== 'delay' && (host === '*' || host === rule?.host),
  );
  if (!rule?.enabled || above < 0) return null;
  return (
    <span className="ml-2">
      <Badge tone="warning">never used: rule {above + 1} decides</Badge>
    </span>
  );
}

function Host({ host }: { host: string }) {
  if (host !== OWN_CRM) return <span className="mono break-all">{host}</span>;
  return (
    <>
      the lambda's own CRM <span className="mono text-faint">{host}</span>
    </>
  );
}

function isSame(rule: OutboundRule, other: RuleRequest): boolean {
  const { host, action, delayMs, status, error } = other;
  return (
    rule.host === host &&
    rule.action === action &&
    rule.delayMs === delayMs &&
    rule.status === status &&
    rule.error === error
  );
}

/** A form that names the rules that would decide about an address, without any call. */
function RuleTrial({ rules, catchesCrm }: { rules: readonly OutboundRule[]; catchesCrm: boolean }) {
  const [address, setAddress] = useState('https://crm.example/servlet/servlet.WebToLead');
  const [isCrm, setCrm] = useState(true);
  return (
    <section aria-label="Try an address" className="card flex flex-col gap-2 p-3">
      <div className="flex flex-wrap items-end gap-4">
        <TextField
          label="Effect on a call to"
          value={address}
          onChange={setAddress}
          isMono
          className="min-w-0 flex-1 basis-80"
        />
        <Switch isSelected={isCrm} onChange={setCrm}>
          is the lambda's CRM
        </Switch>
      </div>
      <output className="text-muted">{ruleOutcome(rules, address, isCrm, catchesCrm)}</output>
    </section>
  );
}

function ruleOutcome(rules: readonly OutboundRule[], address: string, isCrm: boolean, catchesCrm: boolean): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url?.hostname) return 'Invalid address: it must begin with https:// or http://.';
  const port = Number(url.port) || (url.protocol === 'http:' ? 80 : 443);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const verdict = decideOutbound(rules, { hostname, port, isCrm }, catchesCrm);
  if (!verdict) return 'No rule matches. The call goes to the real host.';
  const { action, delayMs, status, error } = verdict;
  const numbers = verdict.rules.map(({ id }) => rules.findIndex((rule) => rule.id === id) + 1);
  const decider =
    numbers.length === 0
      ? 'The setting outbound.crm applies'
      : numbers.length === 1
        ? `Rule ${numbers[0]} applies`
        : `Rules ${numbers.join(' and ')} apply`;
  const end = effectOf({ action, ...(status !== undefined && { status }), ...(error && { error }) });
  return `${decider}: ${delayMs > 0 ? `waits ${delayMs} ms, then ` : ''}${end}.`;
}
