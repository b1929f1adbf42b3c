import type { FailureReplayed } from '../../../../server/contract/recorded.ts';
import { useChange } from '../../api/change.ts';
import { load, send } from '../../api/client.ts';
import type { FailureRun } from '../../api/failures.ts';
import { toast } from '../../parts/toasts.tsx';
import { useValue, ValueStore } from '../../value-store.ts';
import { outcomeWords } from './failure-words.ts';

/** So many are asked for at once: an answer comes soon, and one can stop after it. */
const AT_ONCE = 50;

type Tally = Omit<FailureReplayed, 'invocations'>;

interface UnderWay {
  run: FailureRun;
  tally: Tally;
  /** Ends after the few that are being replayed now. */
  isStopped: boolean;
}

/** What is being replayed, by its lambda: it goes on, and can be stopped, wherever one looks meanwhile. */
export const underWay = new ValueStore<ReadonlyMap<string, UnderWay>>(new Map());

function tell(run: FailureRun, news: Partial<UnderWay>): void {
  const known = underWay.value.get(run.lambdaId) ?? { run, tally: NOTHING, isStopped: false };
  underWay.set(new Map(underWay.value).set(run.lambdaId, { ...known, ...news }));
}
const NOTHING: Tally = { replayed: 0, good: 0, notKept: 0, left: 0 };

/**
 * Undoes the cause of a run of failures, a commit or an outbound rule, and replays what was lost: a few at a time, until all are
 * done, none of a few goes well, or one stops it.
 */
export function useMending(run: FailureRun) {
  const end = () => underWay.set(new Map([...underWay.value].filter(([lambdaId]) => lambdaId !== run.lambdaId)));
  const mine = useValue(underWay).get(run.lambdaId);
  const mending = useChange(
    async (cause: number | 'rule' | undefined): Promise<Tally> => {
      tell(run, {});
      if (cause === 'rule' && run.rule) await switchOff(run.rule.id);
      let undone = typeof cause === 'number' ? { revert: cause } : {};
      let all = NOTHING;
      for (;;) {
        const asked = { ...undone, most: AT_ONCE, skip: all.replayed - all.good };
        const some = await send('POST', `/inspect/failures/${run.newest}/replay`, asked);
        undone = {};
        all = { ...some, replayed: all.replayed + some.replayed, good: all.good + some.good };
        tell(run, { tally: all });
        if (some.left === 0 || some.good === 0 || underWay.value.get(run.lambdaId)?.isStopped) return all;
      }
    },
    {
      onDone: (all) => {
        toast({ tone: all.good === all.replayed && all.left === 0 ? 'ok' : 'error', text: outcomeWords(run, all) });
        end();
      },
      onRefused: end,
    },
  );
  const stop = () => {
    if (mine) tell(run, { isStopped: true });
  };
  return { mending, progress: mine?.tally, stop };
}

/** Switches one outbound rule off; the others stay as they are. */
async function switchOff(id: string): Promise<void> {
  const { rules, revision } = await load('/inspect/outbound');
  const wanted = rules.map((rule) => (rule.id === id ? { ...rule, enabled: false } : rule));
  await send('PUT', '/inspect/outbound', { rules: wanted, revision });
}
