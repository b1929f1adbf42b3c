import { Badge } from '../../parts/state.tsx';
import type { KnownKey } from './access-answers.ts';
import { AccessTable } from './access-table.tsx';
import type { Ending } from './end-dialog.tsx';

export interface KeyTableProps {
  keys: readonly KnownKey[];
  /** How many there are; the newest are listed. */
  total: number;
  onEnd(ending: Ending): void;
}

/** API keys. */
export function KeyTable({ keys, total, onEnd }: KeyTableProps) {
  return (
    <AccessTable
      label="API keys"
      idTitle="Key"
      noun="key"
      total={total}
      whenNone="There are none: programs sign in with tokens only."
      onEnd={onEnd}
      rows={keys.map(({ id, user, created, lastUsed, isDisabled, isFirst }) => ({
        id,
        user,
        created,
        lastUsed,
        badges: (
          <>
            {isFirst && <Badge>first</Badge>}
            {isDisabled && <Badge tone="warning">disabled</Badge>}
          </>
        ),
        ending: { kind: 'key', id, userName: user.name, isFirst },
      }))}
    />
  );
}
