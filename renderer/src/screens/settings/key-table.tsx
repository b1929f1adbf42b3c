import { Trash2 } from 'lucide-react';
import { Time } from '../../parts/amount.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Badge } from '../../parts/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { KnownKey } from './access-answers.ts';
import type { Ending } from './end-dialog.tsx';

export interface KeyTableProps {
  keys: readonly KnownKey[];
  /** How many there are; the newest are listed. */
  total: number;
  onEnd(ending: Ending): void;
}

/** API keys, each with whose it is and when it was used. */
export function KeyTable({ keys, total, onEnd }: KeyTableProps) {
  if (keys.length === 0) return <p className="text-muted">There are none: programs sign in with tokens only.</p>;
  return (
    <>
      <table aria-label="API keys" className="w-full table-fixed text-left">
        <thead className="text-[11.5px] text-faint">
          <tr className="border-b border-line">
            <th className="py-1 pr-3 font-normal">Key</th>
            <th className="w-32 py-1 pr-3 font-normal">User</th>
            <th className="w-28 py-1 pr-3 font-normal">Made</th>
            <th className="w-36 py-1 pr-3 font-normal">Used</th>
            <th className="w-8 py-1">
              <span className="sr-only">End it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ id, user, created, lastUsed, isDisabled, isFirst }) => (
            <tr key={id} className="h-8 border-b border-line/60">
              <th scope="row" className="pr-3 font-normal">
                <span className="flex items-center gap-2">
                  <span className="mono truncate" title={id}>
                    {id}
                  </span>
                  {isFirst && <Badge>first</Badge>}
                  {isDisabled && <Badge tone="warning">disabled</Badge>}
                </span>
              </th>
              <td className="truncate pr-3">
                <PlaceLink to={{ screen: 'resources', id: user.id }}>{user.name}</PlaceLink>
              </td>
              <td className="pr-3 text-muted">
                <Time at={created} />
              </td>
              <td className="pr-3 text-muted">{lastUsed ? <Time at={lastUsed} /> : 'not since the start'}</td>
              <td>
                <IconButton
                  icon={Trash2}
                  label={`End key ${id}`}
                  onPress={() => onEnd({ kind: 'key', id, userName: user.name, isFirst })}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > keys.length && (
        <p className="mt-1 text-muted">and {(total - keys.length).toLocaleString('en')} older ones</p>
      )}
    </>
  );
}
