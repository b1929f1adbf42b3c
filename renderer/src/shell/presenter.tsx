import { useQuery } from '@tanstack/react-query';
import { Presentation, RotateCcw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { load, loadAs, send } from '../api/client.ts';
import { keys } from '../api/query-client.ts';
import { toastWithUndo } from '../api/undo.ts';
import { useChange } from '../api/use-change.ts';
import { Dialog } from '../components/dialog.tsx';
import { prefer, preferences } from '../preferences/preferences.ts';
import { DeletedAccounts, type DeletedAccountsProps } from '../screens/history/deleted-accounts.tsx';
import type { Difference } from '../screens/history/history-answers.ts';
import { differenceAddress } from '../screens/history/use-commits.ts';
import { useGo } from '../url.ts';
import { useValue } from '../value-store.ts';
import { useCommands } from './commands.ts';

/** Name of the snapshot that starts a demo; without it, the demo world is used. */
const SNAPSHOT = 'demo';

function toggle(): void {
  prefer({ isPresenting: !preferences.value.isPresenting });
}

/** For those who show the window to others: large type, one pane, and a key that brings everything back to its beginning. */
export function Presenter() {
  const { isPresenting } = useValue(preferences);
  const [isAsking, setAsking] = useState(false);
  const go = useGo();
  const preview = useQuery({
    queryKey: [keys.history, 'start over'],
    queryFn: () => previewOfStart(),
    enabled: isAsking,
  });
  useEffect(() => {
    document.documentElement.toggleAttribute('data-presenting', isPresenting);
  }, [isPresenting]);
  const beginning = useChange(startOver, {
    onDone: ({ worldName, commit }) => {
      toastWithUndo(`Restored ${worldName}; the inbox is empty.`, commit === undefined ? [] : [commit]);
      setAsking(false);
      go({ screen: 'home' });
    },
  });
  useCommands([
    {
      id: 'present',
      text: 'Presenter mode: large type, one pane',
      icon: Presentation,
      keys: 'P',
      group: 'Window',
      run: toggle,
    },
    {
      id: 'begin-again',
      text: 'Restart the demo',
      icon: RotateCcw,
      keys: isPresenting ? 'R' : undefined,
      group: 'Window',
      run: () => setAsking(true),
    },
  ]);
  if (!isAsking) return null;
  return (
    <Dialog
      title="Restart the demo"
      isAlert
      onClose={() => setAsking(false)}
      action="Restart demo"
      onAction={beginning.mutate}
      isReady={!preview.isPending}
      making={beginning}
    >
      <p>
        The world is restored from the snapshot <code>{SNAPSHOT}</code> or, if there is none, from the demo seed. Leads
        are deleted, and outbound rules are switched off. You can restore the world in the history.
      </p>
      {preview.data && <DeletedAccounts {...preview.data} />}
    </Dialog>
  );
}

async function hasSnapshot(): Promise<boolean> {
  const snapshots = await load('/inspect/snapshots');
  return snapshots.some(({ name }) => name === SNAPSHOT);
}

/** Resolves to what a restart would change in the world. */
async function previewOfStart(): Promise<DeletedAccountsProps> {
  if (await hasSnapshot()) {
    const difference = await loadAs<Difference>(...differenceAddress({ snapshot: SNAPSHOT }, { brief: true }));
    return { difference, direction: 'back' };
  }
  return { difference: await send('POST', '/inspect/reset', { seed: 'demo', dryRun: true }), direction: 'to-come' };
}

/** Resolves to a name for the new world, and its commit. */
async function startOver(): Promise<{ worldName: string; commit: number | undefined }> {
  const isKept = await hasSnapshot();
  const commit = isKept
    ? (await send('POST', `/inspect/snapshots/${encodeURIComponent(SNAPSHOT)}/restore`, {})).commit
    : (await send('POST', '/inspect/reset', { seed: 'demo' })).commit;
  await send('DELETE', '/inspect/leads');
  const { rules } = await load('/inspect/outbound');
  if (rules.some(({ enabled }) => enabled)) {
    await send('PUT', '/inspect/outbound', { rules: rules.map((rule) => ({ ...rule, enabled: false })) });
  }
  return {
    worldName: isKept ? `the snapshot ${SNAPSHOT}` : 'the demo world',
    commit: typeof commit === 'object' ? commit.seq : commit,
  };
}
