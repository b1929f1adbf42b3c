import { ArrowRight, CircleCheck, CircleX, Send, X } from 'lucide-react';
import { useState } from 'react';
import { useFailure } from '../../api/use-failures.ts';
import { useExchange } from '../../api/use-traffic.ts';
import { Time } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { HttpMessage } from '../../components/http-message.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { PendingDetail } from '../../components/pending-detail.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { WindowLocation } from '../../url.ts';
import { requestOf } from '../gateway/exchange-detail.tsx';
import { SendDialog } from '../gateway/send-dialog.tsx';
import type { FirstRequest } from '../gateway/use-saved-requests.ts';
import { FailureStory } from '../invocations/failure-story.tsx';
import { nextStepOf, STOPS } from './form-stops.ts';
import { Marked } from './marked.tsx';
import { type FormView, nameOf } from './use-leads.ts';

/** The parts that a form passes, in order. */
const STATIONS = ['Form', 'Gateway', 'Lambda', 'CRM'] as const;

/** A form that never reached the mock CRM: where it stopped, why, and the next step; or the real CRM that received it. */
export function FormDetail({ form, onClose }: { form: FormView; onClose(): void }) {
  const { at, stop, reason, mapped, executionId, requestSeq } = form;
  const next = nextStepOf(form);
  const isDelivered = stop === 'delivered' || stop === 'replayed';
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 dir="auto" className="truncate text-title">
            {nameOf(form) || '(no name)'}
          </h2>
          <span className="truncate text-muted">{mapped.company}</span>
          <IconButton icon={X} label="Close the detail" onPress={onClose} className="ml-auto" />
        </div>
        <p className="text-muted">
          Sent <Time at={at} />
        </p>
      </div>
      <FormStations form={form} />
      <div
        role="note"
        className={`mx-4 my-3 rounded-md border px-3 py-2 ${isDelivered ? 'border-line' : 'border-error/40 bg-error-soft'}`}
      >
        <p>
          <strong className="font-semibold">
            {!isDelivered && `Not delivered: ${STOPS[stop].text}.`}
            {stop === 'delivered' && 'Delivered to a real CRM.'}
            {stop === 'replayed' &&
              (requestSeq === undefined ? 'Replayed and delivered.' : 'Sent again and delivered.')}
          </strong>
        </p>
        <p className="mono mt-1 break-words">{reason}</p>
        {executionId !== undefined && !isDelivered && stop !== 'unsent' && (
          <Cause executionId={executionId} rule={form.rule} />
        )}
        {next && next.location.search?.sel !== form.id && (
          <p className="mt-1">
            <PlaceLink to={next.location}>{next.text}</PlaceLink>
          </p>
        )}
      </div>
      <div className="px-4">
        <KeyValue
          rows={Object.entries(mapped).map(([name, value]) => ({
            name,
            value: <Marked>{value}</Marked>,
            isMono: true,
          }))}
        />
      </div>
      {requestSeq !== undefined && <RejectedRequest seq={requestSeq} onClose={onClose} />}
    </div>
  );
}

/** The way of the form as far as it came. Each part is a link to its record. */
function FormStations({ form: { stop, requestSeq, executionId, lambdaId, lambdaName } }: { form: FormView }) {
  const invocation: WindowLocation | undefined =
    executionId === undefined ? undefined : { screen: 'invocations', search: { sel: executionId } };
  const request: WindowLocation | undefined =
    requestSeq === undefined ? undefined : { screen: 'gateway', search: { sel: String(requestSeq) } };
  const locations = [undefined, request, invocation, undefined];
  const stopped = requestSeq !== undefined ? 'Gateway' : stop === 'rejected' || stop === 'answered' ? 'CRM' : 'Lambda';
  const stoppedAt = stop === 'replayed' || stop === 'delivered' ? STATIONS.length : STATIONS.indexOf(stopped);
  return (
    <ol aria-label="From the form to the lead" className="flex flex-wrap items-center gap-2 px-4 pt-3">
      {STATIONS.slice(0, stoppedAt + 1).map((station, index) => {
        const location = locations[index];
        const isStop = index === stoppedAt;
        const Icon = isStop ? CircleX : CircleCheck;
        const name = station === 'Lambda' && lambdaId !== undefined ? (lambdaName ?? station) : station;
        return (
          <li key={station} className="flex items-center gap-2">
            {index > 0 && <ArrowRight aria-hidden size={14} className="shrink-0 text-faint" />}
            <span className={`flex items-center gap-1 ${isStop ? 'text-error' : ''}`}>
              <Icon aria-hidden size={13} className={`shrink-0 ${isStop ? '' : 'text-ok'}`} />
              {location ? <PlaceLink to={location}>{name}</PlaceLink> : name}
              {isStop && <span className="sr-only">: stopped here</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** The likely cause. It names the rule that stopped the form, except for a failure that is not listed any more. */
export function Cause({ executionId, rule }: { executionId: string; rule?: FormView['rule'] }) {
  const run = useFailure(executionId);
  if (run) return <FailureStory run={run} />;
  return rule && <p className="mt-1">Outbound rule: {rule.text}</p>;
}

/** The request that the gateway rejected, and how to send it again. */
function RejectedRequest({ seq, onClose }: { seq: number; onClose(): void }) {
  const read = useExchange(seq);
  const [written, setWritten] = useState<FirstRequest>();
  if (!read.data) return <PendingDetail query={read} onClose={onClose} />;
  const { request } = read.data;
  return (
    <section aria-label="Rejected request" className="border-t border-line">
      <p className="px-4 pt-2">
        <Button icon={Send} needs="all" onPress={() => setWritten(requestOf(read.data))}>
          Send again
        </Button>
      </p>
      <HttpMessage subject="request" headers={request.headers} body={request.body} />
      {written && <SendDialog first={written} onClose={() => setWritten(undefined)} />}
    </section>
  );
}
