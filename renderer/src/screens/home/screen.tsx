import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Home: to be built. */
export default function HomeScreen() {
  return (
    <ScreenFrame title="Home">
      <EmptyState title="Home" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
