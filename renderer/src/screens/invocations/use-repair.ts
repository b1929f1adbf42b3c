import type { FailureReplayed } from '../../../../server/api/routes/recorded.ts';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { sessionState } from '../../api/session-state.ts';
import { toastWithUndo } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import type { FailureRun } from '../../api/use-failures.ts';
import { toast } from '../../components/toasts.tsx';
import { useValue, ValueStore } from '../../value-store.ts';
import { outcomeWords } from './failure-words.ts';

/** Number of replays in one request: the response arrives soon, and the user can stop after it. */
const BATCH_SIZE = 50;

type Tally = Omit<FailureReplayed, 'invocations'>;

interface Outcome extends Tally {
  /** The commit that was undone, and the commits that did it. */
  undone?: number;
  commits: readonly number[];
  /** Switches the rule on again. */
  rule?(): void;
}

const refused = (thrown: unknown) =>
  toast({ tone: 'error', text: `The rule could not be enabled: ${failureOf(thrown).message}` });

interface RepairProgress {
  run: FailureRun;
  tally: Tally;
  /** Ends after the few that are being replayed now. */
  isStopped: boolean;
}

/** Running replays, by the first failure of their run. They continue, and can be stopped, on every screen. */
export const runningRepairs = new ValueStore<ReadonlyMap<string, RepairProgress>>(new Map());
sessionState.whenUserLeaves(() => runningRepairs.set(new Map()));

function updateProgress(run: FailureRun, update: Partial<RepairProgress>): void {
  const progress = runningRepairs.value.get(run.first) ?? { run, tally: EMPTY_TALLY, isStopped: false };
  runningRepairs.set(new Map(runningRepairs.value).set(run.first, { ...progress, ...update }));
}
const EMPTY_TALLY: Tally = { replayed: 0, good: 0, notKept: 0, left: 0 };

/**
 * Undoes the cause of a run of failures, a commit or an outbound rule, and replays what was lost: a few at a time, until all are
 * done, none of a few goes well, or one stops it.
 */
export function useRepair(run: FailureRun) {
  const end = () => runningRepairs.set(new Map([...runningRepairs.value].filter(([first]) => first !== run.first)));
  const currentRepair = useValue(runningRepairs).get(run.first);
  const repair = useChange(
    async (cause: number | 'rule' | undefined): Promise<Outcome> => {
      updateProgress(run, {});
      const { rule } = run;
      if (cause === 'rule' && rule) await switchRule(rule.id, false);
      let undone = typeof cause === 'number' ? { revert: cause } : {};
      let all = EMPTY_TALLY;
      const commits: number[] = [];
      const done = (tally: Tally): Outcome => ({
        ...tally,
        commits,
        ...(typeof cause === 'number' && { undone: cause }),
        ...(cause === 'rule' && rule && { rule: () => void switchRule(rule.id, true).catch(refused) }),
      });
      for (;;) {
        const body = { ...undone, most: BATCH_SIZE, skip: all.replayed - all.good };
        const some = await send('POST', `/inspect/failures/${run.newest}/replay`, body);
        undone = {};
        if (some.commit) commits.push(some.commit.seq);
        all = { ...some, replayed: all.replayed + some.replayed, good: all.good + some.good };
        updateProgress(run, { tally: all });
        if (some.left === 0 || some.good === 0 || runningRepairs.value.get(run.first)?.isStopped) return done(all);
      }
    },
    {
      onDone: (all) => {
        const tone = all.good === all.replayed && all.left === 0 ? 'ok' : 'error';
        const text = outcomeWords(run, all);
        if (all.undone !== undefined)
          toastWithUndo(`${text} Commit ${all.undone} was undone.`, all.commits, 'Undo', tone);
        else if (all.rule !== undefined) toast({ tone, text, action: { text: 'Undo', run: all.rule } });
        else toast({ tone, text });
        end();
      },
      onRefused: end,
    },
  );
  const stop = () => {
    if (currentRepair) updateProgress(run, { isStopped: true });
  };
  return { repair, progress: currentRepair?.tally, stop };
}

/** Enables or disables one outbound rule; the others do not change. */
async function switchRule(id: string, enabled: boolean): Promise<void> {
  const { rules, revision } = await load('/inspect/outbound');
  const nextRules = rules.map((rule) => (rule.id === id ? { ...rule, enabled } : rule));
  await send('PUT', '/inspect/outbound', { rules: nextRules, revision });
}
