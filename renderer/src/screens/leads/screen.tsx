import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { fitting, Inbox, LEAD_QUERY } from './inbox.tsx';
import { OutboundRulesTab } from './outbound-rules-tab.tsx';
import { useDeleteLeads, useLeads } from './use-leads.ts';
import { useOutboundRules } from './use-outbound-rules.ts';

/** The inbox of the CRM stand-in, and the rules about what reaches it. */
export default function LeadsScreen() {
  const [{ tab, q = '' }, change] = useSearch();
  const leads = useLeads();
  const rules = useOutboundRules();
  const isRules = tab === 'rules';
  return (
    <ScreenFrame
      title="Leads"
      bar={!isRules && <QueryBar {...LEAD_QUERY} />}
      actions={
        !isRules && (
          <>
            <span className="text-muted">{fitting(leads.data, q).length.toLocaleString('en')}</span>
            <ClearInbox count={leads.data?.length ?? 0} />
          </>
        )
      }
    >
      <Tabs
        label="Leads and rules"
        value={tab ?? 'inbox'}
        onChange={(next) => change({ tab: next === 'inbox' ? undefined : next }, { isNewStep: true })}
        tabs={[
          {
            id: 'inbox',
            title: 'Inbox',
            count: leads.data?.length,
            content: (
              <div className="flex h-full min-h-0 flex-col">
                <Inbox leads={leads} />
              </div>
            ),
          },
          {
            id: 'rules',
            title: 'Outbound rules',
            count: rules.query.data?.rules.length,
            content: <OutboundRulesTab rules={rules} />,
          },
        ]}
      />
    </ScreenFrame>
  );
}

/** Deletes all leads, once one has said so. */
function ClearInbox({ count }: { count: number }) {
  const [isAsking, setAsking] = useState(false);
  const deletion = useDeleteLeads('The inbox is empty.', () => setAsking(false));
  const leads = count === 1 ? 'the lead' : `all ${count.toLocaleString('en')} leads`;
  return (
    <>
      <Button icon={Trash2} look="quiet" isDisabled={count === 0} onPress={() => setAsking(true)}>
        Clear the inbox
      </Button>
      {isAsking && (
        <Dialog
          title="Clear the inbox"
          isAlert
          onClose={() => setAsking(false)}
          action={`Delete ${leads}`}
          onAction={() => deletion.mutate(undefined)}
          look="destroy"
          making={deletion}
        >
          <p>
            Leads are no part of the history: once deleted they cannot be brought back, not even by an earlier moment or
            a snapshot. What the query hides is deleted, too. An archive of the instance (History) holds them.
          </p>
        </Dialog>
      )}
    </>
  );
}
