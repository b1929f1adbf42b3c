import { homedir } from 'node:os';

/** This user's home folder, if any. Without HOME the system is asked, which does not know users that only have a number. */
export function homeFolder(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}
