import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SCREENS_FOLDER = join(import.meta.dirname, '..', 'renderer', 'src', 'screens');

/** Every screen of the window, by its path below `/ui/`: a screen is a folder with a file `screen.tsx`. */
export const SCREENS = readdirSync(SCREENS_FOLDER)
  .filter((name) => existsSync(join(SCREENS_FOLDER, name, 'screen.tsx')))
  .map((name) => (name === 'home' ? '' : name));
