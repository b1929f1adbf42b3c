import { useMutation, useQuery } from '@tanstack/react-query';
import { send } from '../../api/client.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { toast } from '../../parts/toasts.tsx';

const DEMO = { seed: 'demo' };

/** How the demo world comes into an instance that began without it. */
export interface DemoWorld {
  /** Would nothing of the present world be lost? Undefined while that is found out. */
  isHarmless: boolean | undefined;
  isComing: boolean;
  failure: Failure | undefined;
  bring(): void;
}

/** @param isWanted false: it is here already, nothing is asked */
export function useDemoWorld(isWanted: boolean): DemoWorld {
  const trial = useQuery({
    queryKey: [keys.world, 'reset to the demo'],
    queryFn: () => send('POST', '/inspect/reset', { ...DEMO, dryRun: true }),
    enabled: isWanted,
  });
  const bringing = useMutation({
    mutationFn: () => send('POST', '/inspect/reset', DEMO),
    onSuccess: ({ commit }) => {
      toast({ tone: 'ok', text: `The demo world is here: commit ${commit ?? ''}, which the history can take back.` });
      void queryClient.invalidateQueries();
    },
  });
  return {
    isHarmless: trial.data && trial.data.total.delete === 0,
    isComing: bringing.isPending,
    failure: bringing.error ? failureOf(bringing.error) : undefined,
    bring: () => bringing.mutate(),
  };
}
