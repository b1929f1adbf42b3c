import { type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import { signOut } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Switch } from '../../components/fields.tsx';
import { Segments } from '../../components/segments.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { prefer, preferences, type Theme } from '../../preferences/preferences.ts';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import { AccessTab } from './access-tab.tsx';
import { PlatformTab } from './platform-tab.tsx';
import { SettingsGroup } from './settings-group.tsx';

export default function SettingsScreen() {
  const [{ tab }, change] = useSearch();
  const tabs = [
    { id: 'window', title: 'Window', content: <WindowTab /> },
    { id: 'platform', title: 'Platform', content: <PlatformTab /> },
    { id: 'access', title: 'Access', content: <AccessTab /> },
  ];
  const open = (next: string) =>
    change({ tab: next, q: undefined, show: undefined, id: undefined }, { isNewStep: true });
  return (
    <ScreenFrame title="Settings">
      <Tabs label="Settings" tabs={tabs} value={tab} onChange={open} />
    </ScreenFrame>
  );
}

const THEMES = [
  { id: 'system', text: 'System', icon: Monitor },
  { id: 'light', text: 'Light', icon: Sun },
  { id: 'dark', text: 'Dark', icon: Moon },
] as const satisfies readonly { id: Theme; text: string; icon: LucideIcon }[];

function WindowTab() {
  const { theme, hasLetterKeys, isRailNarrow, isSaveReviewed } = useValue(preferences);
  return (
    <div className="flex max-w-3xl flex-col gap-6 p-5">
      <SettingsGroup title="Theme" note="Kept in this browser.">
        {/* As: its segments are the themes. */}
        <Segments label="Theme" segments={THEMES} value={theme} onChange={(id) => prefer({ theme: id as Theme })} />
      </SettingsGroup>
      <SettingsGroup title="Keyboard" note="Ctrl or Cmd with K always opens the palette; ? lists all keys.">
        <Switch isSelected={hasLetterKeys} onChange={(isOn) => prefer({ hasLetterKeys: isOn })}>
          Enable single-key shortcuts (g then a letter, p, r, j, k, /)
        </Switch>
      </SettingsGroup>
      <SettingsGroup
        title="Saving"
        note="Saving without review shows an Undo message (root only). Other users always review."
      >
        <Switch isSelected={isSaveReviewed} onChange={(isOn) => prefer({ isSaveReviewed: isOn })}>
          Review the code of a lambda before saving
        </Switch>
      </SettingsGroup>
      <SettingsGroup title="Layout">
        <Switch isSelected={isRailNarrow} onChange={(isOn) => prefer({ isRailNarrow: isOn })}>
          Narrow sidebar with icons only
        </Switch>
        <Button className="mt-2" onPress={() => prefer({ splits: {} })}>
          Reset the widths of all panes
        </Button>
      </SettingsGroup>
      <SettingsGroup
        title="Session"
        note="A session ends when its access token expires, after 8 hours by default. Sessions survive a restart of the server."
      >
        <Button onPress={() => void signOut()}>Sign out</Button>
      </SettingsGroup>
    </div>
  );
}
