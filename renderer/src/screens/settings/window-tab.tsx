import { Monitor, Moon, Sun } from 'lucide-react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { signOut } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Switch } from '../../parts/fields.tsx';
import { prefer, preferences, type Theme } from '../../preferences/preferences.ts';
import { useValue } from '../../value-store.ts';
import { SettingsGroup } from './settings-group.tsx';

const THEMES = [
  { id: 'system', text: 'As the system', icon: Monitor },
  { id: 'light', text: 'Light', icon: Sun },
  { id: 'dark', text: 'Dark', icon: Moon },
] as const satisfies readonly { id: Theme; text: string; icon: unknown }[];

/** What one person has chosen in this browser. */
export function WindowTab() {
  const { theme, hasLetterKeys, isRailNarrow } = useValue(preferences);
  return (
    <div className="flex max-w-3xl flex-col gap-6 p-5">
      <SettingsGroup title="Theme" note="Kept in this browser.">
        <ToggleButtonGroup
          aria-label="Theme"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[theme]}
          onSelectionChange={([chosen]) => {
            const known = THEMES.find(({ id }) => id === chosen);
            if (known) prefer({ theme: known.id });
          }}
          className="inline-flex rounded-md border border-line-strong p-0.5"
        >
          {THEMES.map(({ id, text, icon: Icon }) => (
            <ToggleButton
              key={id}
              id={id}
              className="flex h-7 items-center gap-1.5 rounded px-3 text-muted data-[hovered]:text-text data-[selected]:bg-accent-soft data-[selected]:font-medium data-[selected]:text-accent"
            >
              <Icon aria-hidden size={14} /> {text}
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
      </SettingsGroup>
      <SettingsGroup title="Keyboard" note="Ctrl or Cmd with K always opens the palette; ? lists all keys.">
        <Switch isSelected={hasLetterKeys} onChange={(isOn) => prefer({ hasLetterKeys: isOn })}>
          Single letters do something (g then a letter, p, r, j, k, /)
        </Switch>
      </SettingsGroup>
      <SettingsGroup title="Layout">
        <Switch isSelected={isRailNarrow} onChange={(isOn) => prefer({ isRailNarrow: isOn })}>
          Narrow rail, icons only
        </Switch>
        <Button className="mt-2" onPress={() => prefer({ splits: {} })}>
          Reset the widths of all panes
        </Button>
      </SettingsGroup>
      <SettingsGroup
        title="Session"
        note="It ends by itself when its access token does, after twelve hours at the latest; a restart of the server does not end it."
      >
        <Button onPress={() => void signOut()}>Sign out</Button>
      </SettingsGroup>
    </div>
  );
}
