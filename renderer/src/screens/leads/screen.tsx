import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Leads: to be built. */
export default function LeadsScreen() {
  return (
    <ScreenFrame title="Leads">
      <EmptyState title="Leads" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
