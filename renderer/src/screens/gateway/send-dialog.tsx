import { useMutation } from '@tanstack/react-query';
import { Save, Send, Terminal } from 'lucide-react';
import { useState } from 'react';
import { curlOf } from '../../api/curl.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/read.ts';
import { type AnswerOfRequest, headersIn, sendThroughGateway } from '../../api/send-request.ts';
import { useWho } from '../../api/who.ts';
import { type PlatformRecord, useWorld } from '../../api/world.ts';
import { Duration } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { copyText } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/fields.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Segments } from '../../parts/segments.tsx';
import { toast } from '../../parts/toasts.tsx';
import { prefer, preferences, type SavedRequest } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useValue } from '../../value-store.ts';
import { StatusState } from './status-state.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map((id) => ({ id, text: id }));
const SENDERS = [
  { id: 'nobody', text: 'nobody' },
  { id: 'me', text: 'me' },
];

/** What one begins with. */
export const NEW_REQUEST: SavedRequest = {
  method: 'POST',
  path: '/',
  headers: 'Content-Type: application/json',
  body: '{}',
  asMe: false,
};

/** A request to a public endpoint, written, sent through the gateway, and its answer. */
export function SendDialog({ first, onClose }: { first: SavedRequest; onClose(): void }) {
  const [asked, setAsked] = useState(first);
  const gatewayUrl = usePlatformStatus().data?.addresses.gatewayUrl ?? '';
  const saved = useValue(preferences).requests;
  const sending = useMutation({
    mutationFn: () => sendThroughGateway({ ...asked, headers: headersIn(asked.headers) }),
  });
  const me = useWho().data?.user;
  const isRoot = me?.isRoot === true;
  const users = useWorld<PlatformRecord[]>('/users', { expand: true }, isRoot);
  const others = (users.data ?? []).filter(({ id }) => id !== me?.id);
  const set = (change: Partial<SavedRequest>) => setAsked((now) => ({ ...now, ...change }));
  const name = `${asked.method} ${asked.path}`;
  const keep = () => {
    prefer({ requests: { ...saved, [name]: asked } });
    toast({ tone: 'ok', text: `${name} is kept in this browser.` });
  };
  const curl = () => {
    const { method, path: target, headers, body, asMe, as } = asked;
    // Nobody is shown a token: who runs the command puts in his own.
    const proof: [string, string][] = asMe || as !== undefined ? [['Authorization', 'Bearer <hidden>']] : [];
    const request = { headers: [...proof, ...headersIn(headers)], body: { text: body, sizeBytes: body.length } };
    void copyText(curlOf({ method, target, request }, gatewayUrl), 'curl command');
  };
  return (
    <Dialog
      title="Send a request"
      onClose={onClose}
      width="medium"
      closing=""
      foot={
        <>
          <Button icon={Terminal} onPress={curl}>
            Copy as curl
          </Button>
          <Button icon={Save} onPress={keep}>
            Save
          </Button>
        </>
      }
      action="Send"
      icon={Send}
      onAction={sending.mutate}
      making={sending}
    >
      <div className="flex flex-col gap-3">
        {Object.keys(saved).length > 0 && (
          <Select
            label="Saved requests"
            options={Object.keys(saved).map((id) => ({ id, text: id }))}
            value={name in saved ? name : undefined}
            onChange={(id) => setAsked(saved[id] ?? asked)}
          />
        )}
        <div className="flex items-start gap-2">
          <Select label="Method" options={METHODS} value={asked.method} onChange={(method) => set({ method })} />
          <TextField
            label="Path"
            isMono
            className="flex-1"
            value={asked.path}
            onChange={(path) => set({ path })}
            description={`Behind ${gatewayUrl}`}
            error={asked.path.startsWith('/') ? undefined : 'begins with /'}
          />
        </div>
        <div className="flex items-center gap-2">
          <span className="text-muted">Signed in as</span>
          <Segments
            label="Signed in as"
            segments={SENDERS}
            value={asked.as !== undefined ? '' : asked.asMe ? 'me' : 'nobody'}
            onChange={(id) => set({ asMe: id === 'me', as: undefined })}
          />
          {isRoot && (
            <Select
              label="or as the user"
              options={others.map(({ id, name: text }) => ({ id, text }))}
              value={asked.as}
              onChange={(as) => set({ as, asMe: false })}
              placeholder="Choose a user"
            />
          )}
        </div>
        <TextField
          label="Headers"
          isMono
          lines={2}
          value={asked.headers}
          onChange={(headers) => set({ headers })}
          description="Name: value, one a line"
        />
        {asked.method !== 'GET' && asked.method !== 'HEAD' && (
          <TextField label="Body" isMono lines={6} value={asked.body} onChange={(body) => set({ body })} />
        )}
        {sending.data && <Answer answer={sending.data} />}
      </div>
    </Dialog>
  );
}

function Answer({ answer: { status, durationMs, executionId, body, isCut } }: { answer: AnswerOfRequest }) {
  // A form that is sent is sent for its lead.
  const [lead] =
    useRead(keys.leads, '/inspect/leads', { execution: executionId }, { enabled: executionId !== undefined }).data ??
    [];
  return (
    <section aria-label="Answer" className="card">
      <p className="flex items-center gap-3 border-b border-line px-3 py-1.5">
        <StatusState status={status} />
        <Duration ms={durationMs} />
        {executionId && (
          <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>Open the invocation</PlaceLink>
        )}
        {lead && <PlaceLink to={{ screen: 'leads', search: { sel: lead.id } }}>Open its lead</PlaceLink>}
        {isCut && <span className="text-muted">only its beginning is shown</span>}
      </p>
      <div className="max-h-60 overflow-auto">
        <JsonView value={body} what="answer" />
      </div>
    </section>
  );
}
