import { useMutation } from '@tanstack/react-query';
import { Save, Send, Terminal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { curlOf } from '../../api/curl.ts';
import { keys } from '../../api/query-client.ts';
import { type AnswerOfRequest, headersIn, sendThroughGateway } from '../../api/send-request.ts';
import { useIdentity } from '../../api/use-identity.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { useRead } from '../../api/use-read.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Duration } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { copyText } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Select, TextField } from '../../components/fields.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { NameDialog } from '../../components/name-dialog.tsx';
import { Segments } from '../../components/segments.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { StatusState } from './status-state.tsx';
import { type FirstRequest, useSavedRequests, type WrittenRequest } from './use-saved-requests.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map((id) => ({ id, text: id }));
const SENDERS = [
  { id: 'anonymous', text: 'no user' },
  { id: 'me', text: 'me' },
];

export const NEW_REQUEST: WrittenRequest = {
  method: 'POST',
  path: '/',
  headers: 'Content-Type: application/json',
  body: '{}',
  asMe: false,
};

/** A form for a request to a public endpoint, sent through the gateway, and the response. */
export function SendDialog({ first, onClose }: { first: FirstRequest; onClose(): void }) {
  const { replayOf: firstReplayOf, ...firstRequest } = first;
  const [writtenRequest, setWrittenRequest] = useState<WrittenRequest>(firstRequest);
  const [replayOf, setReplayOf] = useState(firstReplayOf);
  const gatewayUrl = usePlatformStatus().data?.addresses.gatewayUrl ?? '';
  const { requests: saved, save, remove } = useSavedRequests();
  const [savedAs, setSavedAs] = useState<string>();
  const [isNaming, setNaming] = useState(false);
  const sending = useMutation({
    mutationFn: () => sendThroughGateway({ ...writtenRequest, headers: headersIn(writtenRequest.headers), replayOf }),
  });
  const me = useIdentity().data?.user;
  const isRoot = me?.isRoot === true;
  const users = useWorld<PlatformRecord[]>('/users', { expand: true }, isRoot);
  const otherUsers = (users.data ?? []).filter(({ id }) => id !== me?.id);
  const set = (change: Partial<WrittenRequest>) => setWrittenRequest((now) => ({ ...now, ...change }));
  const savedNames = saved.map(({ name }) => name);
  const chosen = saved.find(({ name }) => name === savedAs);
  const keep = (name: string) =>
    save.mutate(
      { name, request: writtenRequest, replaces: savedNames.includes(name) },
      {
        onSuccess: () => {
          setSavedAs(name);
          setNaming(false);
        },
      },
    );
  const curl = () => {
    const { method, path: target, headers, body, asMe, as } = writtenRequest;
    // The token is not shown: the user inserts one before running the command.
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
          <Button icon={Save} onPress={() => setNaming(true)}>
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
        {saved.length > 0 && (
          <div className="flex items-end gap-2">
            <Select
              label="Saved requests"
              options={savedNames.map((name) => ({ id: name, text: name }))}
              value={chosen?.name}
              onChange={(name) => {
                setSavedAs(name);
                // It does not repeat the rejected request.
                setReplayOf(undefined);
                setWrittenRequest(saved.find((savedRequest) => savedRequest.name === name)?.request ?? writtenRequest);
              }}
            />
            {chosen && (
              <IconButton
                icon={Trash2}
                label={`Delete the saved request ${chosen.name}`}
                onPress={() => remove.mutate(chosen.name)}
              />
            )}
          </div>
        )}
        <div className="flex items-start gap-2">
          <Select
            label="Method"
            options={METHODS}
            value={writtenRequest.method}
            onChange={(method) => set({ method })}
          />
          <TextField
            label="Path"
            isMono
            className="flex-1"
            value={writtenRequest.path}
            onChange={(path) => set({ path })}
            description={`Below ${gatewayUrl}`}
            error={writtenRequest.path.startsWith('/') ? undefined : 'begins with /'}
          />
        </div>
        <div className="flex items-center gap-2">
          <span className="text-muted">Signed in as</span>
          <Segments
            label="Signed in as"
            segments={SENDERS}
            value={writtenRequest.as !== undefined ? '' : writtenRequest.asMe ? 'me' : 'anonymous'}
            onChange={(id) => set({ asMe: id === 'me', as: undefined })}
          />
          {isRoot && (
            <Select
              label="or as the user"
              options={otherUsers.map(({ id, name: text }) => ({ id, text }))}
              value={writtenRequest.as}
              onChange={(as) => set({ as, asMe: false })}
              placeholder="Choose a user"
            />
          )}
        </div>
        <TextField
          label="Headers"
          isMono
          lines={2}
          value={writtenRequest.headers}
          onChange={(headers) => set({ headers })}
          description="Name: value, one per line"
        />
        {writtenRequest.method !== 'GET' && writtenRequest.method !== 'HEAD' && (
          <TextField label="Body" isMono lines={6} value={writtenRequest.body} onChange={(body) => set({ body })} />
        )}
        {sending.data && <Answer answer={sending.data} />}
        {isNaming && (
          <NameDialog
            title="Save the request"
            description="Stored on the platform, for all users who can send requests."
            first={chosen?.name ?? `${writtenRequest.method} ${writtenRequest.path}`}
            existingNames={savedNames}
            onName={keep}
            onClose={() => setNaming(false)}
          />
        )}
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
    <section aria-label="Response" className="card">
      <p className="flex items-center gap-3 border-b border-line px-3 py-1.5">
        <StatusState status={status} />
        <Duration ms={durationMs} />
        {executionId && (
          <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>Open the invocation</PlaceLink>
        )}
        {lead && <PlaceLink to={{ screen: 'leads', search: { sel: lead.id } }}>Open its lead</PlaceLink>}
        {isCut && <span className="text-muted">only the beginning is shown</span>}
      </p>
      <div className="max-h-60 overflow-auto">
        <JsonView value={body} subject="response" />
      </div>
    </section>
  );
}
