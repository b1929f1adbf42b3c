import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Invocations: to be built. */
export default function InvocationsScreen() {
  return (
    <ScreenFrame title="Invocations">
      <EmptyState title="Invocations" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
