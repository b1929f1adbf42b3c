import { PlugZap } from 'lucide-react';
import { live } from '../api/live.ts';
import { Button } from '../parts/button.tsx';
import { useValue } from '../value-store.ts';

/** Above every screen while the stream of events is broken: what one sees may be old. */
export function DisconnectedBanner() {
  const connection = useValue(live.connection);
  if (connection !== 'lost') return null;
  return (
    <div role="alert" className="flex items-center gap-2.5 border-b border-warn/40 bg-warn-soft px-3.5 py-1.5">
      <PlugZap aria-hidden size={15} className="shrink-0 text-warn" />
      <p className="flex-1">
        <strong className="font-semibold">Disconnected.</strong> The server does not answer; what you see may be old.
        Trying again until it does.
      </p>
      <Button
        onPress={() => {
          live.stop();
          live.start();
        }}
      >
        Try now
      </Button>
    </div>
  );
}
