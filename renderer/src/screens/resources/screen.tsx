import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Resources: to be built. */
export default function ResourcesScreen() {
  return (
    <ScreenFrame title="Resources">
      <EmptyState title="Resources" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
