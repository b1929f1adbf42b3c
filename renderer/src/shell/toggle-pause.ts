import { live } from '../api/live.ts';
import { announce } from '../parts/toasts.tsx';

/** Holds everything as it is, or lets it go on, and says so. */
export function togglePause(): void {
  live.togglePause();
  announce(live.isPaused.value ? 'Paused' : 'Live again');
}
