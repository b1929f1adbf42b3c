import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Gateway: to be built. */
export default function GatewayScreen() {
  return (
    <ScreenFrame title="Gateway">
      <EmptyState title="Gateway" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
