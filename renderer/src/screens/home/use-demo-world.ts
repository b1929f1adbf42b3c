import { useQuery } from '@tanstack/react-query';
import { useChange } from '../../api/change.ts';
import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';

const DEMO = { seed: 'demo' };

/** How the demo world comes into an instance that began without it. */
export interface DemoWorld {
  /** Would nothing of the present world be lost? Undefined while that is found out. */
  isHarmless: boolean | undefined;
  isComing: boolean;
  error: unknown;
  bring(): void;
}

/** @param isWanted false: it is here already, nothing is asked */
export function useDemoWorld(isWanted: boolean): DemoWorld {
  const trial = useQuery({
    queryKey: [keys.world, 'reset to the demo'],
    queryFn: () => send('POST', '/inspect/reset', { ...DEMO, dryRun: true }),
    enabled: isWanted,
  });
  const bringing = useChange(() => send('POST', '/inspect/reset', DEMO), {
    said: ({ commit }) => `The demo world is here: commit ${commit ?? ''}, which the history can take back.`,
  });
  return {
    isHarmless: trial.data && trial.data.total.delete === 0,
    isComing: bringing.isPending,
    error: bringing.error,
    bring: () => bringing.mutate(),
  };
}
