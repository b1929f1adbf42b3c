import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Containers: to be built. */
export default function ContainersScreen() {
  return (
    <ScreenFrame title="Containers">
      <EmptyState title="Containers" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
