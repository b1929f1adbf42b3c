import { Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Time } from '../../parts/amount.tsx';
import { IconButton } from '../../parts/button.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import type { Ending } from './end-dialog.tsx';

export interface AccessRow {
  id: string;
  /** So much of the id tells it apart; default: all of it. */
  idText?: string;
  badges: ReactNode;
  user: { id: string; name: string };
  created: string;
  lastUsed?: string | undefined;
  /** How long it is still good, in words; a column of its own when there is one. */
  goodFor?: string;
  ending: Ending;
}

export interface AccessTableProps {
  label: string;
  /** What its ids are called, above them and on the button that ends one. */
  idTitle: string;
  noun: string;
  rows: readonly AccessRow[];
  /** How many there are; the newest are listed. */
  total: number;
  /** Where the table would be when there are none. */
  whenNone: string;
  onEnd(ending: Ending): void;
}

/** What lets somebody in, each with whose it is and when it was used. */
export function AccessTable({ label, idTitle, noun, rows, total, whenNone, onEnd }: AccessTableProps) {
  if (rows.length === 0) return <p className="text-muted">{whenNone}</p>;
  const isLimited = rows.some(({ goodFor }) => goodFor !== undefined);
  return (
    <>
      <table aria-label={label} className="w-full table-fixed text-left">
        <thead className="text-[11.5px] text-faint">
          <tr className="border-b border-line">
            <th className="py-1 pr-3 font-normal">{idTitle}</th>
            <th className="w-[17%] py-1 pr-3 font-normal">User</th>
            <th className="w-[15%] py-1 pr-3 font-normal">Made</th>
            <th className="w-[16%] py-1 pr-3 font-normal">Used</th>
            {isLimited && <th className="w-[16%] py-1 pr-3 font-normal">Good for</th>}
            <th className="w-8 py-1">
              <span className="sr-only">End it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, idText = id, badges, user, created, lastUsed, goodFor, ending }) => (
            <tr key={id} className="h-8 border-b border-line/60">
              <th scope="row" className="pr-3 font-normal">
                <span className="flex items-center gap-2">
                  <span className="mono truncate" title={id}>
                    {idText}
                  </span>
                  {badges}
                </span>
              </th>
              <td className="truncate pr-3">
                <PlaceLink to={{ screen: 'resources', id: user.id }}>{user.name}</PlaceLink>
              </td>
              <td className="pr-3 text-muted">
                <Time at={created} />
              </td>
              <td className="pr-3 text-muted">{lastUsed ? <Time at={lastUsed} /> : 'not since the start'}</td>
              {isLimited && <td className="pr-3 text-muted">{goodFor}</td>}
              <td>
                <IconButton icon={Trash2} label={`End ${noun} ${idText}`} onPress={() => onEnd(ending)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {total > rows.length && (
        <p className="mt-1 text-muted">and {(total - rows.length).toLocaleString('en')} older ones</p>
      )}
    </>
  );
}
