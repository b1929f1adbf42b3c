import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMissing } from '../../api/permissions.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { QueryBar } from '../../components/query-bar.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { fitting, Inbox, LEAD_QUERY } from './inbox.tsx';
import { OutboundRulesTab } from './outbound-rules-tab.tsx';
import { useDeleteLeads, useLeads } from './use-leads.ts';
import { useOutboundRules } from './use-outbound-rules.ts';

/** The inbox of the mock CRM, and the outbound rules. */
export default function LeadsScreen() {
  const [{ tab, q = '' }, change] = useSearch();
  const leads = useLeads();
  const missing = useMissing('lambda.view');
  const rules = useOutboundRules();
  const isRules = tab === 'rules';
  return (
    <ScreenFrame
      title="Leads"
      isOpenToAll={isRules}
      bar={!isRules && <QueryBar {...LEAD_QUERY} />}
      actions={
        !isRules && (
          <>
            <span className="text-muted">{leads.data && fitting(leads.data, q).length.toLocaleString('en')}</span>
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
            count: missing === undefined ? leads.data?.length : undefined,
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
      <Button icon={Trash2} look="quiet" needs="root" isDisabled={count === 0} onPress={() => setAsking(true)}>
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
            Leads are not part of the history: deleted leads cannot be restored, not even from an earlier commit or a
            snapshot. Leads that the query hides are deleted as well. An archive (History) contains them.
          </p>
        </Dialog>
      )}
    </>
  );
}
