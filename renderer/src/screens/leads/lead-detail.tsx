import { Check, CircleHelp, Minus, Plus, Trash2, X } from 'lucide-react';
import { isKnownForm } from '../../../../server/model/crm-form.ts';
import { Time } from '../../components/amount.tsx';
import { IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { State } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { Cause } from './form-detail.tsx';
import { type MappingRow, mappingOf, payloadOf, type UnreadMember, unusedMembersOf, type Verdict } from './mapping.ts';
import { Marked } from './marked.tsx';
import { SentBy } from './sent-by.tsx';
import { type Lead, nameOf, useDeleteLeads } from './use-leads.ts';

const MARKS: Record<Verdict, { icon: typeof Check; label: string; colour: string }> = {
  ok: { icon: Check, label: 'correct', colour: 'text-ok' },
  wrong: { icon: X, label: 'wrong', colour: 'text-error' },
  absent: { icon: Minus, label: 'no input', colour: 'text-muted' },
  unknown: { icon: CircleHelp, label: 'unknown', colour: 'text-muted' },
  extra: { icon: Plus, label: 'extra', colour: 'text-muted' },
};

/** A form that is too large, or is not a form, is rejected before its fields are read. */
const UNREAD_STATUSES: readonly number[] = [413, 415];

/** One lead: each field of the form beside the member of the payload that it came from. */
export function LeadDetail({ lead, onClose }: { lead: Lead; onClose(): void }) {
  const { mapped, source, executionId, sender } = lead;
  const rows = mappingOf(lead);
  const { why } = payloadOf(lead);
  const deletion = useDeleteLeads('The lead was deleted.', onClose);
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 dir="auto" className="truncate text-title">
            {nameOf(lead) || '(no name)'}
          </h2>
          <span className="truncate text-muted">{mapped.company}</span>
          <IconButton
            icon={Trash2}
            label="Delete the lead"
            needs="root"
            isDisabled={deletion.isPending}
            onPress={() => deletion.mutate(lead.id)}
            className="ml-auto"
          />
          <IconButton icon={X} label="Close the detail" onPress={onClose} />
        </div>
        <p className="mono flex items-center text-muted">
          {lead.id}
          <Copy text={lead.id} subject="id of the lead" className="scale-90" />
        </p>
        <p className="text-muted">
          {lead.refused ? 'Rejected' : 'Intercepted'} <Time at={lead.receivedAt} />, addressed to{' '}
          <span className="mono break-all">
            {source.host || 'the CRM'}
            {source.path}
          </span>
        </p>
        <SentBy sender={sender} executionId={executionId} />
      </div>
      <FailureNote error={deletion.error} />
      {lead.refusedBefore && (
        <p className="border-b border-line px-4 py-2">
          Rejected before, and delivered on replay:{' '}
          {lead.refusedBefore.map((id, index) => (
            <PlaceLink key={id} to={{ screen: 'leads', search: { sel: id } }} className="mr-2">
              the rejected form{index === 0 ? '' : ` ${index + 1}`}
            </PlaceLink>
          ))}
        </p>
      )}
      {lead.refused && <Refusal refused={lead.refused} deliveredAs={lead.deliveredAs} executionId={executionId} />}
      {!lead.refused && !isKnownForm(source.path) && (
        <p className="border-b border-line px-4 py-2 *:whitespace-normal">
          <State is="warning">Unusual path: CRMs expect /servlet/servlet.WebToLead</State>
        </p>
      )}
      {UNREAD_STATUSES.includes(lead.refused?.status ?? 0) ? (
        <p className="px-4 py-3 text-muted">The CRM did not read the body, so its fields are unknown.</p>
      ) : (
        <>
          <Summary rows={rows} sender={sender} />
          <UnusedMembers members={unusedMembersOf(lead)} />
          <table className="w-full table-fixed">
            <caption className="sr-only">Form fields and their sources</caption>
            <TableHead
              heads={[
                { text: 'Form field', className: 'w-[27%] pl-4' },
                'Input',
                'Sent',
                { text: 'Check', className: 'w-24' },
              ]}
            />
            <tbody>
              {rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a form may have a field twice; a caught one does not change
                <Row key={`${index} ${row.field}`} row={row} />
              ))}
            </tbody>
          </table>
        </>
      )}
      {sender?.event === undefined ? (
        <p className="px-4 py-3 text-muted">No payload to show: {why}.</p>
      ) : (
        <details className="border-t border-line">
          <summary className="cursor-pointer px-4 py-2">The event that the lambda was called with</summary>
          <JsonView value={sender.event} subject="event" />
        </details>
      )}
    </div>
  );
}

function Row({ row: { field, from, expected, value, verdict, why } }: { row: MappingRow }) {
  const { icon: Icon, label, colour } = MARKS[verdict];
  return (
    <tr className="border-b border-line/55 align-top">
      <td className="px-4 py-1.5">
        <span className="mono break-all">{field}</span>
        <span className="block text-small break-words text-muted">{from}</span>
      </td>
      <td className="mono px-2 py-1.5 break-words text-muted">{expected && <Marked>{expected}</Marked>}</td>
      <td className={`mono px-2 py-1.5 break-words ${verdict === 'wrong' ? 'text-error' : value ? '' : 'text-muted'}`}>
        {value ? (
          <Marked>{value}</Marked>
        ) : (
          <span className="italic">{value === undefined ? 'not in the form' : 'sent empty'}</span>
        )}
      </td>
      <td className={`px-2 py-1.5 ${colour}`} title={why}>
        <span className="flex items-center gap-1">
          <Icon aria-hidden size={14} className="shrink-0" />
          <span className="text-small">{label}</span>
        </span>
        <span className="sr-only">: {why}</span>
      </td>
    </tr>
  );
}

/** The reason that the CRM rejected it, in the CRM's words. */
function Refusal({
  refused: { status, message },
  deliveredAs,
  executionId,
}: {
  refused: NonNullable<Lead['refused']>;
  deliveredAs: Lead['deliveredAs'];
  executionId: string | undefined;
}) {
  return (
    <div
      role="note"
      className={`mx-4 my-3 rounded-md border px-3 py-2 ${deliveredAs ? 'border-line' : 'border-error/40 bg-error-soft'}`}
    >
      <p>
        <strong className="font-semibold">The CRM rejected this form ({status}).</strong>{' '}
        {deliveredAs ? (
          <>
            Replayed <Time at={deliveredAs.at} /> and delivered as{' '}
            <PlaceLink to={{ screen: 'leads', search: { sel: deliveredAs.id } }}>this lead</PlaceLink>.
          </>
        ) : (
          'The lead was not delivered. To deliver it, send the form again.'
        )}
      </p>
      <p className="mono mt-1 break-words">{message}</p>
      {executionId !== undefined && <Cause executionId={executionId} />}
    </div>
  );
}

/** Payload values that arrived nowhere: often, a name is spelled differently. */
function UnusedMembers({ members }: { members: readonly UnreadMember[] }) {
  if (members.length === 0) return null;
  return (
    <div className="border-b border-line px-4 py-2">
      <State is="warning">Payload values missing from the form</State>
      <ul aria-label="Payload values missing from the form" className="mt-1 list-disc pl-5">
        {members.map(({ name, intendedName }) => (
          <li key={name} className="break-words">
            <span className="mono">payload.{name}</span>
            {intendedName !== undefined && (
              <span className="text-muted">
                : did you mean <code>{intendedName}</code>?
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Shows if the fields of the table were sent, with the next step if not. */
function Summary({ rows, sender }: { rows: readonly MappingRow[]; sender: Lead['sender'] }) {
  const wrong = rows.filter(({ verdict }) => verdict === 'wrong');
  const correct = rows.filter(({ verdict }) => verdict === 'ok').length;
  const absent = rows.filter(({ verdict }) => verdict === 'absent').length;
  const isOid = wrong.some(({ field }) => field === 'oid');
  return (
    <div className="border-b border-line px-4 py-2 *:whitespace-normal">
      <State is={wrong.length > 0 ? 'error' : absent > 0 ? 'warning' : 'ok'}>
        {correct} of {correct + wrong.length + absent} fields are mapped as expected
        {absent > 0 && `, ${absent} ${absent === 1 ? 'has' : 'have'} no input`}
      </State>
      {wrong.length > 0 && (
        <>
          <ul aria-label="What is wrong" className="mt-1 list-disc pl-5">
            {wrong.map(({ field, why, advice }) => (
              <li key={field} className="break-words">
                <span className="mono text-error">{field}</span> <span className="text-muted">{why}:</span> {advice}.
              </li>
            ))}
          </ul>
          {sender && (
            <p className="mt-1 flex flex-wrap gap-3">
              <PlaceLink to={{ screen: 'lambdas', id: sender.lambdaId }}>Open its code</PlaceLink>
              {isOid && (
                <PlaceLink to={{ screen: 'lambdas', id: sender.lambdaId, search: { tab: 'env' } }}>
                  Open its environment
                </PlaceLink>
              )}
            </p>
          )}
        </>
      )}
    </div>
  );
}
