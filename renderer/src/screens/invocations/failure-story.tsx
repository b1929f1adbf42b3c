import { Pencil, RotateCcw, Undo2 } from 'lucide-react';
import { OnResource } from '../../api/permissions.tsx';
import type { CauseCandidate, FailureRun } from '../../api/use-failures.ts';
import { useIdentity } from '../../api/use-identity.ts';
import { Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useGo } from '../../url.ts';
import { capital, changeWords, lostWords, replayWords, undoWords } from './failure-words.ts';
import { useRepair } from './use-repair.ts';

/** The probable cause of a run of failures, and the repair: one step undoes the change and replays what was lost. */
export function FailureStory({ run }: { run: FailureRun }) {
  const [likeliest] = run.likelyCauses;
  const otherCauses = run.likelyCauses.slice(run.rule ? 0 : 1);
  const { rule } = run;
  // Only root may revert a commit or change a rule.
  const isRoot = useIdentity().data?.user.isRoot === true;
  const { repair, progress, stop } = useRepair(run);
  const go = useGo();
  const isUndoing = repair.isPending && repair.variables !== undefined;
  const isUnderWay = progress !== undefined;
  const decided = rule?.isEnabled && { undone: 'rule' as const, text: 'Disable the rule' };
  const changed = !rule && likeliest?.isUndoable && { undone: likeliest.seq, text: 'Undo it' };
  const cause = isRoot && !run.isOver && (decided || changed);
  return (
    <OnResource target={{ id: run.lambdaId, name: run.lambdaName }}>
      <div className="mt-1 flex flex-col gap-1.5 break-words">
        {rule && !run.isOver && (
          <p>
            Caused by the outbound rule{' '}
            <PlaceLink to={{ screen: 'leads', search: { tab: 'rules' } }}>{rule.text}</PlaceLink>
            {!rule.isEnabled && ', which is not enabled now'}.
          </p>
        )}
        {likeliest && !rule && !run.isOver && (
          <p>
            {run.lastGood ? 'Since' : 'It has never succeeded. Last change:'} <Change candidate={likeliest} />.
            {likeliest.isUndone && ` Commit ${likeliest.seq} is undone.`}
          </p>
        )}
        {cause && !decided && likeliest && run.lost > 0 && <p className="text-muted">{undoWords(likeliest)}</p>}
        {!likeliest && !rule && run.historyFrom !== undefined && (
          <p className="text-muted">
            Earlier changes are unknown: the history starts <Time at={run.historyFrom} />.
          </p>
        )}
        {run.lost > 0 && (
          <p className="flex flex-wrap items-center gap-1.5">
            {run.isInputInvalid && (
              <Button
                look="primary"
                icon={Pencil}
                needs="lambda.invoke"
                onPress={() => go({ screen: 'invocations', search: { sel: run.newest, dialog: 'edit' } })}
              >
                Replay with edits
              </Button>
            )}
            {cause && (
              <Button
                look="primary"
                icon={Undo2}
                isPending={isUndoing}
                isDisabled={isUnderWay}
                onPress={() => repair.mutate(cause.undone)}
              >
                {cause.text}, and {replayWords(run)}
              </Button>
            )}
            <Button
              icon={RotateCcw}
              needs="lambda.invoke"
              isPending={isUnderWay && !isUndoing}
              isDisabled={isUnderWay}
              onPress={() => repair.mutate(undefined)}
            >
              {capital(replayWords(run))}
            </Button>
          </p>
        )}
        {progress && progress.left > 0 && (
          <p role="status" className="flex items-center gap-2">
            {progress.replayed.toLocaleString('en')} of {(progress.replayed + progress.left).toLocaleString('en')}{' '}
            replayed
            <Button onPress={stop}>Stop</Button>
          </p>
        )}
        {run.lost === 0 && <p className="text-muted">{lostWords(run)}</p>}
        {otherCauses.length + run.activity.length > 0 && !run.isOver && (
          <details>
            <summary className="cursor-pointer text-muted">Other changes before the failures</summary>
            <ul className="list-disc pl-5">
              {otherCauses.map((candidate) => (
                <li key={`${candidate.seq} ${candidate.resource.id}`}>
                  <Change candidate={candidate} />
                </li>
              ))}
              {run.activity.map(({ at, text }) => (
                <li key={`${at} ${text}`}>
                  {capital(text)} <Time at={at} />
                </li>
              ))}
            </ul>
          </details>
        )}
        <FailureNote error={repair.error} />
      </div>
    </OnResource>
  );
}

function Change({ candidate: { seq, at, by: author, changes, resource } }: { candidate: CauseCandidate }) {
  return (
    <>
      {author} {changeWords(changes)}{' '}
      <PlaceLink to={{ screen: 'resources', id: resource.id, search: { tab: 'history' } }}>{resource.name}</PlaceLink>{' '}
      <Time at={at} /> in <PlaceLink to={{ screen: 'history', search: { sel: String(seq) } }}>commit {seq}</PlaceLink>
    </>
  );
}
