import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Pipelines: to be built. */
export default function PipelinesScreen() {
  return (
    <ScreenFrame title="Pipelines">
      <EmptyState title="Pipelines" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
