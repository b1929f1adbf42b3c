import { Tabs } from '../../parts/tabs.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { AccessTab } from './access-tab.tsx';
import { PlatformTab } from './platform-tab.tsx';
import { WindowTab } from './window-tab.tsx';

/** The window as one likes it, the platform as it was started, and who may do what. */
export default function SettingsScreen() {
  const [{ tab }, change] = useSearch();
  const tabs = [
    { id: 'window', title: 'Window', content: <WindowTab /> },
    { id: 'platform', title: 'Platform', content: <PlatformTab /> },
    { id: 'access', title: 'Access', content: <AccessTab /> },
  ];
  return (
    <ScreenFrame title="Settings">
      <Tabs label="Settings" tabs={tabs} value={tab} onChange={(next) => change({ tab: next }, { isNewStep: true })} />
    </ScreenFrame>
  );
}
