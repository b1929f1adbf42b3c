import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { send } from '../../api/client.ts';
import { useChange } from '../../api/use-change.ts';
import { Time, useNowMs } from '../../components/amount.tsx';
import { durationText } from '../../components/amounts.ts';
import { IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Badge } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { isToken, type KnownKey, type KnownToken } from './use-keys-and-tokens.ts';

type Credential = KnownKey | KnownToken;

export interface AccessTableProps {
  kind: 'key' | 'token';
  credentials: readonly Credential[];
  /** Total number; only the newest are listed. */
  total: number;
}

const LABELS = {
  key: { label: 'API keys', idTitle: 'Key', none: 'No keys: programs sign in with tokens only.' },
  token: { label: 'Access tokens', idTitle: 'SHA-256', none: 'None.' },
};

/** Part of the hash that is enough to distinguish tokens. */
const SHOWN_CHARS = 12;
const shortId = (credential: Credential) => (isToken(credential) ? credential.id.slice(0, SHOWN_CHARS) : credential.id);

/** Keys or tokens with their owners and last use; only valid tokens. */
export function AccessTable({ kind, credentials, total }: AccessTableProps) {
  const nowMs = useNowMs();
  const [ending, end] = useState<Credential>();
  const { label, idTitle, none } = LABELS[kind];
  if (credentials.length === 0) return <p className="text-muted">{none}</p>;
  return (
    <>
      <table aria-label={label} className="w-full table-fixed text-left">
        <TableHead
          cell="pr-3"
          heads={[
            idTitle,
            { text: 'User', className: 'w-[17%]' },
            { text: 'Created', className: 'w-[15%] max-sm:hidden' },
            { text: 'Used', className: 'w-[16%] max-sm:w-[26%]' },
            ...(kind === 'token' ? [{ text: 'Expires in', className: 'w-[16%] max-sm:w-[22%]' }] : []),
            { text: 'Revoke', className: 'w-8', isHidden: true },
          ]}
        />
        <tbody>
          {credentials.map((credential) => (
            <tr key={credential.id} className="h-8 border-b border-line/60">
              <th scope="row" className="pr-3 font-normal">
                <span className="flex items-center gap-2">
                  <span className="mono truncate" title={credential.id}>
                    {shortId(credential)}
                  </span>
                  <Badges credential={credential} />
                </span>
              </th>
              <td className="truncate pr-3">
                <PlaceLink to={{ screen: 'resources', id: credential.user.id }}>{credential.user.name}</PlaceLink>
              </td>
              <td className="pr-3 text-muted max-sm:hidden">
                <Time at={credential.created} />
              </td>
              <td className="pr-3 text-muted">
                {credential.lastUsed ? <Time at={credential.lastUsed} /> : 'not since the start'}
              </td>
              {isToken(credential) && (
                <td className="pr-3 text-muted">{durationText(Math.max(0, Date.parse(credential.expires) - nowMs))}</td>
              )}
              <td>
                <IconButton
                  icon={Trash2}
                  label={`Revoke ${kind} ${shortId(credential)}`}
                  onPress={() => end(credential)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > credentials.length && (
        <p className="mt-1 text-muted">and {(total - credentials.length).toLocaleString('en')} older ones</p>
      )}
      {ending && <EndDialog credential={ending} onClose={() => end(undefined)} />}
    </>
  );
}

function Badges({ credential }: { credential: Credential }) {
  if (isToken(credential)) return credential.isOwn && <Badge tone="accent">this window</Badge>;
  return (
    <>
      {credential.isFirst && <Badge>first</Badge>}
      {credential.isDisabled && <Badge tone="warning">disabled</Badge>}
    </>
  );
}

interface EndDialogProps {
  credential: KnownKey | KnownToken;
  onClose(): void;
}

function EndDialog({ credential, onClose }: EndDialogProps) {
  const { id, user } = credential;
  const label = isToken(credential) ? 'access token' : 'API key';
  const ended = useChange(
    () =>
      send(
        'DELETE',
        isToken(credential) ? `/inspect/access/tokens/${id}` : `/security/apiKeys/${encodeURIComponent(id)}`,
      ),
    { message: `The ${label} of ${user.name} was revoked.`, onDone: onClose },
  );
  return (
    <Dialog
      title={`Revoke this ${label}`}
      isAlert
      onClose={onClose}
      action={`Revoke ${label}`}
      onAction={ended.mutate}
      look="destroy"
      making={ended}
    >
      <p>
        Revoke <span className="mono break-all">{id}</span>? Programs of {user.name} that use it can no longer sign in.
        This cannot be undone.
      </p>
      {isToken(credential) && credential.isOwn && (
        <p className="mt-2 text-warn">This window uses it: you will have to sign in again.</p>
      )}
      {!isToken(credential) && credential.isFirst && (
        <p className="mt-2 text-warn">
          This is root's first API key. It becomes valid again the next time the platform starts.
        </p>
      )}
    </Dialog>
  );
}
