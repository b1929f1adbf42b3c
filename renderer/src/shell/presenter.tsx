import { useMutation } from '@tanstack/react-query';
import { Presentation, RotateCcw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { load, send } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';
import { queryClient } from '../api/query-client.ts';
import { useKeys } from '../keys/use-keys.ts';
import { Confirm } from '../parts/dialog.tsx';
import { FailureNote } from '../parts/empty-state.tsx';
import { toast } from '../parts/toasts.tsx';
import { prefer, preferences } from '../preferences/preferences.ts';
import { useGo } from '../url.ts';
import { useValue } from '../value-store.ts';
import { useCommands } from './commands.ts';

/** The snapshot that a demonstration begins with; without one of that name it begins with the demo world. */
const SNAPSHOT = 'demo';

function toggle(): void {
  prefer({ isPresenting: !preferences.value.isPresenting });
}

/** For those who show the window to others: large type, one pane, and a key that brings everything back to its beginning. */
export function Presenter() {
  const { isPresenting } = useValue(preferences);
  const [isAsking, setAsking] = useState(false);
  const go = useGo();
  useEffect(() => {
    document.documentElement.toggleAttribute('data-presenting', isPresenting);
  }, [isPresenting]);
  const beginning = useMutation({
    mutationFn: beginAgain,
    onSuccess: (what) => {
      setAsking(false);
      go({ screen: 'home' });
      toast({ tone: 'ok', text: `Everything is as in ${what}; the inbox is empty.` });
    },
    onSettled: () => void queryClient.invalidateQueries(),
  });
  const ask = () => setAsking(true);
  useKeys([
    { keys: 'P', does: 'Presenter mode: large type, one pane', group: 'Everywhere', run: toggle },
    ...(isPresenting ? [{ keys: 'R', does: 'Begin the demonstration again', group: 'Everywhere', run: ask }] : []),
  ]);
  useCommands([
    { id: 'present', text: 'Presenter mode', icon: Presentation, shortcut: 'P', group: 'Window', run: toggle },
    { id: 'begin-again', text: 'Begin the demonstration again', icon: RotateCcw, group: 'Window', run: ask },
  ]);
  return (
    <Confirm
      title="Begin the demonstration again"
      isOpen={isAsking}
      onClose={() => setAsking(false)}
      deed="Begin again"
      isPending={beginning.isPending}
      onConfirm={() => beginning.mutate()}
    >
      <p>
        The world becomes what the snapshot <code>{SNAPSHOT}</code> holds, or where there is none the demo world; leads
        go, and outbound rules are switched off. The world can be brought back in the history.
      </p>
      {beginning.error && <FailureNote failure={failureOf(beginning.error)} />}
    </Confirm>
  );
}

/** @returns what the world is now like */
async function beginAgain(): Promise<string> {
  const snapshots = await load('/inspect/snapshots');
  const isKept = snapshots.some(({ name }) => name === SNAPSHOT);
  if (isKept) await send('POST', `/inspect/snapshots/${SNAPSHOT}/restore`, {});
  else await send('POST', '/inspect/reset', { seed: 'demo' });
  await send('DELETE', '/inspect/leads');
  const { rules } = await load('/inspect/outbound');
  if (rules.some(({ enabled }) => enabled)) {
    await send('PUT', '/inspect/outbound', { rules: rules.map((rule) => ({ ...rule, enabled: false })) });
  }
  return isKept ? `the snapshot ${SNAPSHOT}` : 'the demo world';
}
