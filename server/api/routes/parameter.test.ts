import { expect, it, onTestFinished, vi } from 'vitest';
import { moment, momentOrCommit } from './parameter.ts';

it('times without an offset are UTC, in any time zone of the machine', () => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  const atMs = Date.UTC(2026, 4, 1, 12);
  expect(moment('').schema.parse('2026-05-01T12:00:00')).toBe(atMs);
  expect(momentOrCommit('').schema.parse('2026-05-01T12:00')).toEqual({ atMs });
  expect(moment('').schema.parse('2026-05-01T14:00:00+02:00')).toBe(atMs);
});

it.each(['2026-02-31', '2026-02-31T00:00:00Z', '2026-05-01Tnoon', 'yesterday'])('%s is no time', (text) => {
  expect(moment('').schema.safeParse(text).success).toBe(false);
});
