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

const BODIES = [
  { id: 'body', text: 'Text or JSON' },
  { id: 'file', text: 'A file' },
];

const WAYS = [
  { id: 'status', text: 'HTTP status' },
  { id: 'error', text: 'Network error' },
];

const COUNT_RANGE = { minValue: 0, maxValue: 1_000_000 };
const STATUS_FORMAT = { useGrouping: false };

interface RuleDialogProps {
  rule: RuleRequest;
  onKeep(rule: RuleRequest): void;
  onClose(): void;
}

export function RuleDialog({ rule, onKeep, onClose }: RuleDialogProps) {
  const [host, setHost] = useState(rule.host);
  const [action, setAction] = useState<OutboundAction>(rule.action);
  const [delayMs, setDelayMs] = useState(rule.delayMs ?? 3_000);
  const [way, setWay] = useState(rule.error ? 'error' : 'status');
  const [status, setStatus] = useState(rule.action === 'answer' ? 500 : (rule.status ?? 500));
  const [error, setError] = useState<NetworkError>(rule.error ?? 'ECONNREFUSED');
  const [answerStatus, setAnswerStatus] = useState(rule.action === 'answer' ? (rule.status ?? 200) : 200);
  const [source, setSource] = useState(rule.file === undefined ? 'body' : 'file');
  const [body, setBody] = useState(bodyText(rule.body));
  const [file, setFile] = useState(rule.file ?? '');
  const [contentType, setContentType] = useState(contentTypeIn(rule.headers) ?? '');
  const [times, setTimes] = useState(rule.times ?? 0);
  const [after, setAfter] = useState(rule.after ?? 0);
  const headers = headersWith(rule.headers, contentType.trim());
  const ruleRequest: RuleRequest = {
    ...(rule.id !== undefined && { id: rule.id }),
    host: host.trim(),
    action,
    ...(action === 'delay' && { delayMs }),
    ...(action === 'fail' && (way === 'status' ? { status } : { error })),
    ...(action === 'answer' && {
      status: answerStatus,
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(source === 'file' ? { file: file.trim() } : { body: bodyIn(body) }),
      ...(times > 0 && { times }),
      ...(after > 0 && { after }),
    }),
    enabled: rule.enabled,
  };
  const fault = faultOfHost(ruleRequest.host);
  return (
    <Dialog
      title={rule.id === undefined ? 'Add a rule' : 'Change the rule'}
      onClose={onClose}
      action={rule.id === undefined ? 'Add' : 'Save'}
      onAction={() => onKeep(ruleRequest)}
      isReady={fault === undefined && (action !== 'answer' || source === 'body' || file.trim() !== '')}
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
        {action === 'answer' && (
          <>
            <StatusField value={answerStatus} onChange={setAnswerStatus} />
            <Segments label="Body" segments={BODIES} value={source} onChange={setSource} />
            {source === 'file' ? (
              <TextField label="Absolute path of the file" value={file} onChange={setFile} isMono />
            ) : (
              <TextField label="Text or JSON" value={body} onChange={setBody} isMono />
            )}
            <TextField
              label="Content type (empty: from the body)"
              value={contentType}
              onChange={setContentType}
              isMono
            />
            <NumberField label="Number of calls (0: all)" value={times} {...COUNT_RANGE} onChange={setTimes} />
            <NumberField label="After how many calls" value={after} {...COUNT_RANGE} onChange={setAfter} />
          </>
        )}
        {action === 'fail' && (
          <>
            <Segments label="With what" segments={WAYS} value={way} onChange={setWay} />
            {way === 'status' ? (
              <StatusField value={status} onChange={setStatus} />
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

function StatusField(props: { value: number; onChange(status: number): void }) {
  return <NumberField label="Status" minValue={200} maxValue={599} formatOptions={STATUS_FORMAT} {...props} />;
}

function bodyText(body: RuleRequest['body']): string {
  return typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
}

/** Reads an object or array as JSON, anything else as text. */
function bodyIn(text: string): NonNullable<RuleRequest['body']> {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function contentTypeIn(headers: RuleRequest['headers'] = {}): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
}

function headersWith(headers: RuleRequest['headers'] = {}, contentType: string): Record<string, string> {
  const otherHeaders = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type');
  return { ...Object.fromEntries(otherHeaders), ...(contentType && { 'content-type': contentType }) };
}
