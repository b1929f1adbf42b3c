import { Download, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { download } from '../../api/download.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';
import { Bytes, Time } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { Pending } from '../../components/pending.tsx';
import { PendingDetail } from '../../components/pending-detail.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useSearch } from '../../url.ts';
import { SentBy } from '../leads/sent-by.tsx';
import type { MailView } from './use-mails.ts';

const nameOf = ({ name, address }: MailView['from'][number]) => (name === '' ? address : `${name} <${address}>`);
const namesOf = (addresses: MailView['from']) => addresses.map(nameOf).join(', ') || undefined;

/** One mail: its HTML, where nothing runs and nothing is loaded, its text, its attachments and its source. */
export function MailDetail({ id, onClose }: { id: string; onClose(): void }) {
  const [{ tab }, change] = useSearch();
  const read = useRead(keys.mails, `/inspect/mails/${id}`);
  const mail = read.data;
  if (!mail) return <PendingDetail query={read} onClose={onClose} />;
  const { subject, envelope, from, to, cc, receivedAt, attachments, executionId, sender, html, text, problem } = mail;
  const tabs = [
    ...(html === undefined ? [] : [{ id: 'html', title: 'HTML', isFilling: true, content: <HtmlFrame html={html} /> }]),
    { id: 'text', title: 'Text', content: <PlainText text={text} /> },
    { id: 'source', title: 'Source', content: <Source id={id} /> },
  ];
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-auto">
      <div className="shrink-0 border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <h2 className="truncate text-title">{subject || '(no subject)'}</h2>
          <IconButton icon={X} label="Close the detail" onPress={onClose} className="ml-auto" />
        </div>
        <KeyValue
          nameWidth={80}
          rows={[
            { name: 'From', value: namesOf(from) ?? envelope.from },
            { name: 'To', value: namesOf(to) },
            { name: 'Cc', value: namesOf(cc) },
            { name: 'Recipients', value: envelope.to.join(', ') },
            { name: 'Received', value: <Time at={receivedAt} /> },
          ]}
        />
        <SentBy sender={sender} executionId={executionId} />
        {problem && <p className="break-words text-warn">{problem}</p>}
        {attachments.length > 0 && (
          <ul aria-label="Attachments" className="mt-1.5 flex flex-wrap gap-1.5">
            {attachments.map(({ name, sizeBytes }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two attachments can have the same name; those of a mail do not change
              <li key={index}>
                <Button
                  icon={Download}
                  onPress={() => void download(`/inspect/mails/${id}/attachments/${index}`, name)}
                >
                  {name} <Bytes bytes={sizeBytes} />
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Tabs label="Parts of the mail" isInDetail tabs={tabs} value={tab} onChange={(next) => change({ tab: next })} />
    </div>
  );
}

/** Shows HTML in a page of another origin: the policy of the window forbids the styles of a mail, and that page everything else. */
function HtmlFrame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    // Its origin is opaque, so no other target can be named; it shows what it gets, and sends nothing.
    if (isLoaded) frame.current?.contentWindow?.postMessage(html, '*');
  }, [html, isLoaded]);
  return (
    <iframe
      ref={frame}
      title="HTML of the mail"
      sandbox="allow-scripts"
      src="/ui/html-frame"
      onLoad={() => setLoaded(true)}
      className="block h-full w-full"
    />
  );
}

const PlainText = ({ text }: { text: string }) => (
  <pre className="mono p-4 break-words whitespace-pre-wrap">{text || '(no text)'}</pre>
);

function Source({ id }: { id: string }) {
  const path = `/inspect/mails/${id}/source`;
  const read = useRead(keys.mails, path);
  if (read.data === undefined) return <Pending query={read} />;
  return (
    <>
      <div className="px-4 pt-3">
        <Button icon={Download} onPress={() => void download(path, `${id}.eml`)}>
          Download the source
        </Button>
      </div>
      <PlainText text={String(read.data)} />
    </>
  );
}
