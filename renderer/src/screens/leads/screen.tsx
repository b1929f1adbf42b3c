import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMissing } from '../../api/permissions.tsx';
import { keys } from '../../api/query-client.ts';
import { amountOf, useFigures } from '../../api/use-figures.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { QueryBar } from '../../components/query-bar.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { FORM_QUERY, Inbox } from './inbox.tsx';
import { OutboundRulesTab } from './outbound-rules-tab.tsx';
import { FORMS_PATH, useDeleteLeads, useForms } from './use-leads.ts';
import { useOutboundRules } from './use-outbound-rules.ts';

/** The forms that were sent to the CRM, and the outbound rules. */
export default function LeadsScreen() {
  const [{ tab, q, scope }, change] = useSearch();
  const filter = { q: q || undefined, scope };
  const forms = useForms(filter);
  const { data: figures } = useFigures({ topic: keys.forms, path: FORMS_PATH, filter });
  // Of a search, the bar shows the number.
  const total = figures && filter.q === undefined ? figures.ok + figures.refused + figures.failed : undefined;
  const missing = useMissing('lambda.view');
  const rules = useOutboundRules();
  const isRules = tab === 'rules';
  return (
    <ScreenFrame
      title="Leads"
      isOpenToAll={isRules}
      bar={!isRules && <QueryBar {...FORM_QUERY} />}
      actions={
        !isRules && (
          <>
            <span className="text-muted" role="status">
              {figures && amountOf(figures)}
            </span>
            <DeleteLeads count={forms.data?.pages[0]?.leads ?? 0} />
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
            count: missing === undefined ? total : undefined,
            content: (
              <div className="flex h-full min-h-0 flex-col">
                <Inbox forms={forms} figures={figures} filter={filter} />
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

function DeleteLeads({ count }: { count: number }) {
  const [isAsking, setAsking] = useState(false);
  const deletion = useDeleteLeads('All leads were deleted.', () => setAsking(false));
  const leads = count === 1 ? 'the lead' : `all ${count.toLocaleString('en')} leads`;
  return (
    <>
      <Button icon={Trash2} look="quiet" needs="root" isDisabled={count === 0} onPress={() => setAsking(true)}>
        Delete all leads
      </Button>
      {isAsking && (
        <Dialog
          title="Delete all leads"
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
