import type { Emulator } from '../emulator.ts';

/** Where the window opens: good for signing in once, if the platform gives such an address. */
export function windowUrlOf(emulator: Pick<Emulator, 'baseUrl'>): string {
  return `${emulator.baseUrl}/ui/`;
}
