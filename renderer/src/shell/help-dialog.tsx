import { Key } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Switch } from '../components/fields.tsx';
import { keyboard } from '../keys/use-keys.ts';
import { prefer, preferences } from '../preferences/preferences.ts';
import { useValue } from '../value-store.ts';

const MOD = /mac/i.test(navigator.platform) ? 'Cmd' : 'Ctrl';
const OTHER = 'This screen';

/** Every key that does something now. */
export function HelpDialog({ onClose }: { onClose(): void }) {
  const { hasLetterKeys } = useValue(preferences);
  const groups = Map.groupBy(keyboard.bindings, ({ group }) => group ?? OTHER);
  return (
    <Dialog title="Keys" onClose={onClose} width="medium">
      <Switch isSelected={hasLetterKeys} onChange={(isOn) => prefer({ hasLetterKeys: isOn })}>
        Enable single-key shortcuts
      </Switch>
      <div className={`mt-4 grid gap-x-8 gap-y-5 sm:grid-cols-2 ${hasLetterKeys ? '' : 'opacity-60'}`}>
        {[...groups].map(([group, bindings]) => (
          <section key={group}>
            <h3 className="eyebrow mb-1">{group}</h3>
            <dl>
              {[...new Map(bindings.map((binding) => [binding.keys, binding])).values()].map(({ keys, does }) => (
                <div key={keys} className="flex h-7 items-center justify-between border-b border-line/60">
                  <dt>{does}</dt>
                  <dd className="flex gap-1">
                    {keysIn(keys).map(([id, key]) => (
                      <Key key={id}>{key === 'mod' ? MOD : key}</Key>
                    ))}
                    <span className="sr-only">{keys.replace('mod', MOD)}</span>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** The single keys, each with an id of its own: `g g` has the same one twice. */
function keysIn(keys: string): [string, string][] {
  return keys.split(/[ +](?=.)/).map((key, index) => [`${index} ${key}`, key]);
}
