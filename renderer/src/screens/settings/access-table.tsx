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

type Known = KnownKey | KnownToken;

export interface AccessTableProps {
  kind: 'key' | 'token';
  known: readonly Known[];
  /** How many there are; the newest are listed. */
  total: number;
}

const WORDS = {
  key: { label: 'API keys', idTitle: 'Key', none: 'No keys: programs sign in with tokens only.' },
  token: { label: 'Access tokens', idTitle: 'SHA-256', none: 'None.' },
};

/** Part of the hash that is enough to distinguish tokens. */
const SHOWN_CHARS = 12;
const shortId = (one: Known) => (isToken(one) ? one.id.slice(0, SHOWN_CHARS) : one.id);

/** Keys or tokens with their owners and last use; only valid tokens. */
export function AccessTable({ kind, known, total }: AccessTableProps) {
  const nowMs = useNowMs();
  const [ending, end] = useState<Known>();
  const { label, idTitle, none } = WORDS[kind];
  if (known.length === 0) return <p className="text-muted">{none}</p>;
  return (
    <>
      <table aria-label={label} className="w-full table-fixed text-left">
        <TableHead
          cell="pr-3"
          heads={[
            idTitle,
            { text: 'User', className: 'w-[17%]' },
            { text: 'Made', className: 'w-[15%]' },
            { text: 'Used', className: 'w-[16%]' },
            ...(kind === 'token' ? [{ text: 'Good for', className: 'w-[16%]' }] : []),
            { text: 'Revoke', className: 'w-8', isHidden: true },
          ]}
        />
        <tbody>
          {known.map((one) => (
            <tr key={one.id} className="h-8 border-b border-line/60">
              <th scope="row" className="pr-3 font-normal">
                <span className="flex items-center gap-2">
                  <span className="mono truncate" title={one.id}>
                    {shortId(one)}
                  </span>
                  <Badges of={one} />
                </span>
              </th>
              <td className="truncate pr-3">
                <PlaceLink to={{ screen: 'resources', id: one.user.id }}>{one.user.name}</PlaceLink>
              </td>
              <td className="pr-3 text-muted">
                <Time at={one.created} />
              </td>
              <td className="pr-3 text-muted">{one.lastUsed ? <Time at={one.lastUsed} /> : 'not since the start'}</td>
              {isToken(one) && (
                <td className="pr-3 text-muted">{durationText(Math.max(0, Date.parse(one.expires) - nowMs))}</td>
              )}
              <td>
                <IconButton icon={Trash2} label={`Revoke ${kind} ${shortId(one)}`} onPress={() => end(one)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > known.length && (
        <p className="mt-1 text-muted">and {(total - known.length).toLocaleString('en')} older ones</p>
      )}
      {ending && <EndDialog known={ending} onClose={() => end(undefined)} />}
    </>
  );
}

function Badges({ of: one }: { of: Known }) {
  if (isToken(one)) return one.isOwn && <Badge tone="accent">this window</Badge>;
  return (
    <>
      {one.isFirst && <Badge>first</Badge>}
      {one.isDisabled && <Badge tone="warning">disabled</Badge>}
    </>
  );
}
