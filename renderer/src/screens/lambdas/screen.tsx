import { EmptyState } from '../../parts/empty-state.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';

/** Lambdas: to be built. */
export default function LambdasScreen() {
  return (
    <ScreenFrame title="Lambdas">
      <EmptyState title="Lambdas" text="This screen is not there yet." />
    </ScreenFrame>
  );
}
