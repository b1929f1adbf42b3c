import { Outlet } from '@tanstack/react-router';
import { CircleHelp, Copy, LogOut, Moon, Pause, PlugZap, Sun, SunMoon } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { live, togglePause } from '../api/live.ts';
import { signOut } from '../api/session.ts';
import { sessionState } from '../api/session-state.ts';
import { usePlatformStatus } from '../api/use-platform-status.ts';
import { Button, Key } from '../components/button.tsx';
import { Copy as CopyButton, copyText } from '../components/copy.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Switch } from '../components/fields.tsx';
import { keyboard, useKeys } from '../keys/use-keys.ts';
import { noteStep, prefer, preferences } from '../preferences/preferences.ts';
import { type ScreenName, screenNames, screens } from '../screens/registry.ts';
import { useGo } from '../url.ts';
import { useValue } from '../value-store.ts';
import { CommandPalette } from './command-palette.tsx';
import { useCommands } from './commands.ts';
import { useInstance } from './instance.ts';
import { Presenter } from './presenter.tsx';
import { Sidebar } from './sidebar.tsx';
import { StatusBar } from './status-bar.tsx';
import { type Address, TopBar } from './top-bar.tsx';
import { useActionCommands } from './use-action-commands.ts';
import { usePlaceCommands } from './use-place-commands.ts';

export function Shell({ current }: { current: ScreenName }) {
  const [open, setOpen] = useState<'palette' | 'help'>();
  const go = useGo();
  const status = usePlatformStatus().data;
  const addresses = useMemo<Address[]>(() => {
    const { baseUrl, gatewayUrl } = status?.addresses ?? { baseUrl: location.origin };
    return [{ name: 'API', url: baseUrl }, ...(gatewayUrl ? [{ name: 'gateway', url: gatewayUrl }] : [])];
  }, [status?.addresses]);

  useEffect(() => {
    if (current === 'resources') noteStep('browse');
  }, [current]);
  const { kind: sessionKind } = useValue(sessionState);
  useEffect(() => {
    if (sessionKind !== 'signed-in') return undefined;
    live.start();
    return () => live.stop();
  }, [sessionKind]);

  useKeys([{ keys: 'mod+k', does: 'Commands and resources', group: 'Window', run: () => setOpen('palette') }]);
  usePlaceCommands();
  useActionCommands();
  useCommands([
    ...screenNames.map((name) => ({
      id: `go ${name}`,
      text: screens[name].title,
      icon: screens[name].icon,
      keys: `g ${screens[name].letter}`,
      group: 'Go to',
      run: () => go({ screen: name }),
    })),
    {
      id: 'pause',
      text: 'Pause or resume live updates',
      icon: Pause,
      keys: 'p',
      group: 'Window',
      run: togglePause,
    },
    ...addresses.map(({ name, url }) => ({
      id: `copy ${name}`,
      text: `Copy the address of ${name}`,
      synonyms: url,
      icon: Copy,
      group: 'Window',
      run: () => void copyText(url, `address of ${name}`),
    })),
    { id: 'light', text: 'Light theme', icon: Sun, group: 'Window', run: () => prefer({ theme: 'light' }) },
    { id: 'dark', text: 'Dark theme', icon: Moon, group: 'Window', run: () => prefer({ theme: 'dark' }) },
    {
      id: 'system',
      text: "The system's theme",
      icon: SunMoon,
      group: 'Window',
      run: () => prefer({ theme: 'system' }),
    },
    { id: 'help', text: 'Keys', icon: CircleHelp, keys: '?', group: 'Window', run: () => setOpen('help') },
    { id: 'sign-out', text: 'Sign out', icon: LogOut, group: 'Window', run: () => void signOut() },
  ]);

  return (
    <div className="grid h-full grid-cols-[auto_minmax(0,1fr)] grid-rows-[44px_minmax(0,1fr)_26px]">
      <a
        href="#main"
        className="fixed top-1.5 left-1.5 z-50 -translate-y-16 rounded-md bg-accent px-3 py-1.5 font-medium text-on-accent focus:translate-y-0"
      >
        Skip to the content
      </a>
      <TopBar addresses={addresses} onPalette={() => setOpen('palette')} />
      <Sidebar current={current} />
      <main id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-col outline-none">
        <DisconnectedBanner />
        <Outlet />
      </main>
      <StatusBar />
      <Presenter />
      <CommandPalette isOpen={open === 'palette'} onClose={() => setOpen(undefined)} />
      {open === 'help' && <HelpDialog onClose={() => setOpen(undefined)} />}
    </div>
  );
}

/** Above every screen while the stream of events is broken: what one sees may be old. */
function DisconnectedBanner() {
  const connection = useValue(live.connection);
  const { startCommand } = useInstance();
  if (connection !== 'lost') return null;
  return (
    <div role="alert" className="flex items-center gap-2.5 border-b border-warn/40 bg-warn-soft px-3.5 py-1.5">
      <PlugZap aria-hidden size={15} className="shrink-0 text-warn" />
      <p className="flex-1">
        <strong className="font-semibold">Disconnected.</strong> The server does not respond. The data shown may be out
        of date. If it has stopped, start it with: <code>{startCommand}</code>
        <CopyButton text={startCommand} subject="command" className="scale-90" />
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

const MOD = /mac/i.test(navigator.platform) ? 'Cmd' : 'Ctrl';
const OTHER = 'This screen';

function HelpDialog({ onClose }: { onClose(): void }) {
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
