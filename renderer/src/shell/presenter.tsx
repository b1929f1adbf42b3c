import { Presentation, RotateCcw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useChange } from '../api/change.ts';
import { load, send } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
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
  const beginning = useChange(beginAgain, {
    said: (what) => `Everything is as in ${what}; the inbox is empty.`,
    onDone: () => {
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
      text: 'Begin the demonstration again',
      icon: RotateCcw,
      keys: isPresenting ? 'R' : undefined,
      group: 'Window',
      run: () => setAsking(true),
    },
  ]);
  if (!isAsking) return null;
  return (
    <Dialog
      title="Begin the demonstration again"
      isAlert
      onClose={() => setAsking(false)}
      action="Begin again"
      onAction={beginning.mutate}
      making={beginning}
    >
      <p>
        The world becomes what the snapshot <code>{SNAPSHOT}</code> holds, or where there is none the demo world; leads
        go, and outbound rules are switched off. The world can be brought back in the history.
      </p>
    </Dialog>
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
