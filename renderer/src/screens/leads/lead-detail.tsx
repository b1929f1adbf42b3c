import { Check, X } from 'lucide-react';
import { Time } from '../../parts/amount.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { mappingOf } from './mapping.ts';
import type { Lead } from './use-leads.ts';

/** One lead: each field of the form beside the member of the payload that it came from. */
export function LeadDetail({ lead, onClose }: { lead: Lead; onClose(): void }) {
  const { mapped, source, executionId } = lead;
  const rows = mappingOf(lead);
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 className="text-[14px]">
            {[mapped.firstName, mapped.lastName].filter(Boolean).join(' ') || '(no name)'}
          </h2>
          <span className="text-muted">{mapped.company}</span>
          <IconButton icon={X} label="Close the detail" onPress={onClose} className="ml-auto" />
        </div>
        <p className="mono flex items-center text-muted">
          {lead.id}
          <Copy text={lead.id} what="id of the lead" className="scale-90" />
        </p>
        <p className="text-muted">
          caught <Time at={lead.receivedAt} /> on its way to {source.host ?? 'the CRM'}
          {source.path && <span className="mono"> {source.path}</span>}
          {executionId && (
            <>
              {' '}
              by <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>this invocation</PlaceLink>
            </>
          )}
        </p>
      </div>
      <table className="w-full table-fixed">
        <caption className="sr-only">Fields of the form and where they came from</caption>
        <thead>
          <tr className="h-7 border-b border-line text-left text-[11.5px] text-faint">
            <th className="w-[34%] px-4 font-normal">Form field</th>
            <th className="px-2 font-normal">Value sent</th>
            <th className="w-20 px-2 font-normal">Given</th>
            <th className="w-[24%] px-2 font-normal">From payload</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ field, value, from, isGiven }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a form may have a field twice; a caught one does not change
            <tr key={`${index} ${field}`} className="h-[29px] border-b border-line/55">
              <td className="mono truncate px-4">{field}</td>
              <td className={`mono px-2 break-words ${value === undefined ? 'text-error' : ''}`}>
                {value ?? '(absent)'}
              </td>
              <td className="px-2">
                <span
                  className={`inline-flex items-center gap-1 ${isGiven ? 'text-ok' : value === undefined ? 'text-error' : 'text-muted'}`}
                >
                  {isGiven ? <Check aria-hidden size={14} /> : <X aria-hidden size={14} />}
                  <span className="text-[12px]">{isGiven ? 'yes' : value === undefined ? 'no' : 'empty'}</span>
                </span>
              </td>
              <td className="mono truncate px-2 text-muted">{from}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
