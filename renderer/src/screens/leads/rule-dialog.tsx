import { useState } from 'react';
import {
  faultOfHost,
  type NetworkError,
  type OutboundAction,
  OWN_CRM,
} from '../../../../server/model/outbound-rule.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { NumberField, Select, TextField } from '../../components/fields.tsx';
import { Segments } from '../../components/segments.tsx';
import { ACTIONS, ERRORS } from './rule-words.ts';
import type { RuleRequest } from './use-outbound-rules.ts';

const WAYS = [
  { id: 'status', text: 'A status' },
  { id: 'error', text: 'A network error' },
];

/** One rule, to be filled in. */
export function RuleDialog({
  rule,
  onKeep,
  onClose,
}: {
  rule: RuleRequest;
  onKeep(rule: RuleRequest): void;
  onClose(): void;
}) {
  const [host, setHost] = useState(rule.host);
  const [action, setAction] = useState<OutboundAction>(rule.action);
  const [delayMs, setDelayMs] = useState(rule.delayMs ?? 3_000);
  const [way, setWay] = useState(rule.error ? 'error' : 'status');
  const [status, setStatus] = useState(rule.status ?? 500);
  const [error, setError] = useState<NetworkError>(rule.error ?? 'ECONNREFUSED');
  const asked: RuleRequest = {
    ...(rule.id !== undefined && { id: rule.id }),
    host: host.trim(),
    action,
    ...(action === 'delay' && { delayMs }),
    ...(action === 'fail' && (way === 'status' ? { status } : { error })),
    enabled: rule.enabled,
  };
  const fault = faultOfHost(asked.host);
  return (
    <Dialog
      title={rule.id === undefined ? 'Add a rule' : 'Change the rule'}
      onClose={onClose}
      action={rule.id === undefined ? 'Add' : 'Save'}
      onAction={() => onKeep(asked)}
      isReady={fault === undefined}
    >
      <div className="flex flex-col gap-3">
        <div className="flex items-end gap-2">
          <TextField
            label="Calls to"
            value={host}
            onChange={setHost}
            isMono
            className="flex-1"
            error={host === '' ? undefined : fault}
          />
          <Button onPress={() => setHost(OWN_CRM)}>The lambda's CRM</Button>
        </div>
        <p className="-mt-2 text-small text-muted">
          A host, <code>*</code> for any part of it, with a port to match only that port: <code>api.example</code>,{' '}
          <code>*.example:8443</code>.
        </p>
        <Select
          label="Effect"
          options={ACTIONS}
          value={action}
          // Its options are these very actions.
          onChange={(id) => setAction(id as OutboundAction)}
        />
        {action === 'delay' && (
          <NumberField
            label="For how long"
            unit="ms"
            value={delayMs}
            minValue={1}
            maxValue={600_000}
            onChange={setDelayMs}
          />
        )}
        {action === 'fail' && (
          <>
            <Segments label="With what" segments={WAYS} value={way} onChange={setWay} />
            {way === 'status' ? (
              <NumberField
                label="Status"
                value={status}
                minValue={200}
                maxValue={599}
                formatOptions={{ useGrouping: false }}
                onChange={setStatus}
              />
            ) : (
              <Select
                label="Error"
                options={ERRORS}
                value={error}
                // Its options are these very errors.
                onChange={(id) => setError(id as NetworkError)}
              />
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
