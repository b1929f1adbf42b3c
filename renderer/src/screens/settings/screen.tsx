import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Settings: to be built. */
export default function SettingsScreen() {
  return (
    <ScreenFrame title="Settings">
      <EmptyState title="Settings" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
