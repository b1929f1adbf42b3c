import { expect, it } from 'vitest';
import { inTime } from '../../testing/in-time.ts';
import { parseEnvironmentPath } from './target-snapshot.ts';

it('a path of millions of slashes is read in a time that grows with its length only', () => {
  const { fqon, workspace, environment } = inTime(() =>
    parseEnvironmentPath(`/o/w/e/apis/${'/'.repeat(2_000_000)}x//`),
  );
  expect({ fqon, workspace, environment }).toEqual({ fqon: 'o', workspace: 'w', environment: 'e' });
});
