import { useNowMs } from '../../parts/amount.tsx';
import { durationText } from '../../parts/amounts.ts';
import { Badge } from '../../parts/state.tsx';
import type { KnownToken } from './access-answers.ts';
import { AccessTable } from './access-table.tsx';
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
  return (
    <AccessTable
      label="Access tokens"
      idTitle="SHA-256"
      noun="token"
      total={total}
      whenNone="There are none."
      onEnd={onEnd}
      rows={tokens.map(({ id, user, created, lastUsed, expires, isOwn }) => ({
        id,
        idText: id.slice(0, SHOWN_CHARS),
        user,
        created,
        lastUsed,
        goodFor: durationText(Math.max(0, Date.parse(expires) - nowMs)),
        badges: isOwn && <Badge tone="accent">this window</Badge>,
        ending: { kind: 'token', id, userName: user.name, isOwn },
      }))}
    />
  );
}
