import { Trash2 } from 'lucide-react';
import { Time, useNowMs } from '../../parts/amount.tsx';
import { durationText } from '../../parts/amounts.ts';
import { IconButton } from '../../parts/button.tsx';
import { Badge } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { KnownToken } from './access-answers.ts';
import type { Ending } from './end-dialog.tsx';

export interface TokenTableProps {
  tokens: readonly KnownToken[];
  /** How many there are; the newest are listed. */
  total: number;
  onEnd(ending: Ending): void;
}

/** So much of the hash tells tokens apart. */
const SHOWN_CHARS = 12;

/** Access tokens that are good now, by the beginning of their hash. */
export function TokenTable({ tokens, total, onEnd }: TokenTableProps) {
  const nowMs = useNowMs();
  if (tokens.length === 0) return <p className="text-muted">There are none.</p>;
  return (
    <>
      <table aria-label="Access tokens" className="w-full table-fixed text-left">
        <thead className="text-[11.5px] text-faint">
          <tr className="border-b border-line">
            <th className="py-1 pr-3 font-normal">SHA-256</th>
            <th className="w-32 py-1 pr-3 font-normal">User</th>
            <th className="w-28 py-1 pr-3 font-normal">Made</th>
            <th className="w-36 py-1 pr-3 font-normal">Used</th>
            <th className="w-28 py-1 pr-3 font-normal">Good for</th>
            <th className="w-8 py-1">
              <span className="sr-only">End it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map(({ id, user, created, lastUsed, expires, isOwn }) => (
            <tr key={id} className="h-8 border-b border-line/60">
              <th scope="row" className="pr-3 font-normal">
                <span className="flex items-center gap-2">
                  <span className="mono truncate" title={id}>
                    {id.slice(0, SHOWN_CHARS)}
                  </span>
                  {isOwn && <Badge tone="accent">this window</Badge>}
                </span>
              </th>
              <td className="truncate pr-3">
                <PlaceLink to={{ screen: 'resources', id: user.id }}>{user.name}</PlaceLink>
              </td>
              <td className="pr-3 text-muted">
                <Time at={created} />
              </td>
              <td className="pr-3 text-muted">{lastUsed ? <Time at={lastUsed} /> : 'not since the start'}</td>
              <td className="pr-3 text-muted">{durationText(Math.max(0, Date.parse(expires) - nowMs))}</td>
              <td>
                <IconButton
                  icon={Trash2}
                  label={`End token ${id.slice(0, SHOWN_CHARS)}`}
                  onPress={() => onEnd({ kind: 'token', id, userName: user.name, isOwn })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > tokens.length && (
        <p className="mt-1 text-muted">and {(total - tokens.length).toLocaleString('en')} older ones</p>
      )}
    </>
  );
}
