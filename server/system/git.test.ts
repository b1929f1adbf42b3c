import { expect, it } from 'vitest';
import { runGit } from './git.ts';

it('does not wait any longer for a git that does not end, and names the time', async () => {
  const args = ['-c', 'alias.hang=!exec sleep 5', 'hang'];
  await expect(runGit('.', args, { timeoutMs: 500 })).rejects.toThrow(/^git did not end within 0\.5 s$/);
});
