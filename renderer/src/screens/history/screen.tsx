import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** History: to be built. */
export default function HistoryScreen() {
  return (
    <ScreenFrame title="History">
      <EmptyState title="History" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
