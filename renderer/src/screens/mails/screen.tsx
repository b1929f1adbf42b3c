import { Paperclip, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import type { GridColumn } from '../../components/data-grid.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { timeColumn } from '../../components/list/time-column.tsx';
import { ListScreen } from '../../shell/list-screen.tsx';
import { useSearch } from '../../url.ts';
import { MailDetail } from './mail-detail.tsx';
import { MAX_MAILS, type MailSummary, useDeleteMails, useMails } from './use-mails.ts';

const NO_MAILS: readonly MailSummary[] = [];
const keyOf = ({ id }: MailSummary) => id;

const COLUMNS: readonly GridColumn<MailSummary>[] = [
  timeColumn(({ receivedAt }) => receivedAt, { hideOrder: 1 }),
  {
    id: 'to',
    header: 'To',
    width: { share: 2, minWidth: 120 },
    text: ({ envelope }) => envelope.to.join(', '),
  },
  {
    id: 'subject',
    header: 'Subject',
    width: { share: 3, minWidth: 140 },
    cell: ({ subject, excerpt, attachments }) => (
      <>
        <span className="font-medium">{subject || '(no subject)'}</span>
        {attachments.length > 0 && <Paperclip aria-label="with attachments" size={12} className="mx-1 inline" />}
        <span className="ml-2 text-faint">{excerpt}</span>
      </>
    ),
  },
  {
    id: 'lambda',
    header: 'Sent by',
    hideOrder: 2,
    width: { share: 1, minWidth: 110 },
    isMuted: true,
    text: ({ sender }) => sender?.lambdaName ?? '-',
  },
];

export default function MailsScreen() {
  const [{ q = '', sel }, change] = useSearch();
  const mails = useMails(q || undefined);
  const rows = useMemo(() => mails.data?.toReversed() ?? NO_MAILS, [mails.data]);
  const close = () => change({ sel: undefined, tab: undefined });
  return (
    <ListScreen
      title="Mails"
      bar={
        <FindField label="Find mails" placeholder="Address, subject, text or attachment" className="w-full max-w-md" />
      }
      actions={
        <>
          <span className="text-muted" role="status">
            {mails.data && (rows.length === MAX_MAILS ? `newest ${MAX_MAILS.toLocaleString('en')}` : rows.length)}
          </span>
          <DeleteMails isEmpty={rows.length === 0 && q === ''} />
        </>
      }
      name="mails"
      label="Mails"
      list={{ ...mails, rows }}
      columns={COLUMNS}
      keyOf={keyOf}
      narrowedBy={['q']}
      empty={
        <EmptyState
          title="The inbox is empty"
          text="A mail that a lambda sends is caught here, whatever its server; nothing is delivered."
        />
      }
      onClose={close}
      detailLabel="Mail"
      detail={sel && <MailDetail key={sel} id={sel} onClose={close} />}
    />
  );
}

function DeleteMails({ isEmpty }: { isEmpty: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const deletion = useDeleteMails(() => setOpen(false));
  return (
    <>
      <Button icon={Trash2} look="quiet" needs="root" isDisabled={isEmpty} onPress={() => setOpen(true)}>
        Delete all mails
      </Button>
      {isOpen && (
        <Dialog
          title="Delete all mails"
          isAlert
          onClose={() => setOpen(false)}
          action="Delete all mails"
          onAction={() => deletion.mutate()}
          look="destroy"
          making={deletion}
        >
          <p>
            Mails are not part of the history: deleted mails cannot be restored. Mails that the search hides are deleted
            as well. An archive (History) contains them.
          </p>
        </Dialog>
      )}
    </>
  );
}
