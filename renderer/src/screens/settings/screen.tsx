import { Tabs } from '../../components/tabs.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { AccessTab } from './access-tab.tsx';
import { PlatformTab } from './platform-tab.tsx';
import { WindowTab } from './window-tab.tsx';

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
