import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Time, useNowMs } from '../../components/amount.tsx';
import { durationText } from '../../components/amounts.ts';
import { IconButton } from '../../components/button.tsx';
import { Badge } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { isToken, type KnownKey, type KnownToken } from './access-answers.ts';
import { EndDialog } from './end-dialog.tsx';

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
