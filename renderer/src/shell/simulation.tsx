import { FastForward, X } from 'lucide-react';
import { describeFault, isUsedUp } from '../../../server/model/fault-rule.ts';
import { useChange } from '../api/change.ts';
import { send } from '../api/client.ts';
import { useMissing } from '../api/permissions.tsx';
import { keys } from '../api/query-client.ts';
import { useRead } from '../api/read.ts';
import { counted, durationText } from '../components/amounts.ts';
import { IconButton } from '../components/button.tsx';

/** Shows fault rules that still apply and the time by which the clock is ahead, with a button that ends both. */
export function Simulation() {
  const rules = useRead(keys.simulation, '/inspect/faults').data?.filter((rule) => !isUsedUp(rule)) ?? [];
  const aheadMs = useRead(keys.simulation, '/inspect/clock').data?.aheadMs ?? 0;
  const missing = useMissing('root');
  const end = useChange(
    async () => {
      await send('DELETE', '/inspect/faults');
      await send('DELETE', '/inspect/clock');
    },
    { topic: keys.simulation, refusal: 'The faults did not end: ' },
  );
  const texts = [
    ...(rules.length > 0 ? [counted(rules.length, 'fault')] : []),
    ...(aheadMs > 0 ? [`clock +${durationText(aheadMs)}`] : []),
  ];
  if (texts.length === 0) return null;
  return (
    <p
      role="status"
      aria-label="Simulated faults and time"
      title={rules.map(describeFault).join('\n')}
      className="flex h-6 min-w-0 shrink-0 items-center rounded-full border border-warn/50 bg-warn-soft pl-2 text-small text-warn"
    >
      <FastForward aria-hidden size={12} className="mr-1.5 shrink-0" />
      {texts.join(', ')}
      <IconButton
        icon={X}
        label="End simulated faults and time"
        isDisabled={end.isPending || missing !== undefined}
        onPress={() => end.mutate()}
        className="size-6 scale-85"
      />
    </p>
  );
}
