import { lazy, Suspense } from 'react';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { useSearch } from '../../url.ts';
import { AccessTab } from './access-tab.tsx';
import { PlatformTab } from './platform-tab.tsx';
import { WindowTab } from './window-tab.tsx';

// It brings the texts along.
const DecisionsTab = lazy(() => import('./decisions-tab.tsx'));

/** The window as one likes it, the platform as it was started, who may do what, and what was decided about all that. */
export default function SettingsScreen() {
  const [{ tab }, change] = useSearch();
  const decisions = (
    <Suspense fallback={<Skeleton />}>
      <DecisionsTab />
    </Suspense>
  );
  const tabs = [
    { id: 'window', title: 'Window', content: <WindowTab /> },
    { id: 'platform', title: 'Platform', content: <PlatformTab /> },
    { id: 'access', title: 'Access', content: <AccessTab /> },
    { id: 'decisions', title: 'Decisions', content: decisions },
  ];
  const open = (next: string) =>
    change({ tab: next, q: undefined, show: undefined, id: undefined }, { isNewStep: true });
  return (
    <ScreenFrame title="Settings">
      <Tabs label="Settings" tabs={tabs} value={tab} onChange={open} />
    </ScreenFrame>
  );
}
