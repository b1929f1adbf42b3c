import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../model/errors.ts';
import { RateLimit } from './endpoint.ts';

/** The Retry-After of a refused call, or undefined. */
function refusalOf(limit: RateLimit, nowMs: number): string | undefined {
  try {
    limit.count(nowMs);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof PlatformError) || thrown.status !== 429) throw thrown;
    return thrown.headers['Retry-After'];
  }
}

describe('a rate limit', () => {
  it('lets exactly the limit through in 60 s from its first counted call, and says when to come back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(40_000), { maxLength: 60 }), (perMinute, pauses) => {
        const limit = new RateLimit(perMinute);
        let [nowMs, startMs, letThrough] = [1_000_000, Number.NEGATIVE_INFINITY, 0];
        for (const pause of pauses) {
          nowMs += pause;
          const retryAfter = refusalOf(limit, nowMs);
          if (retryAfter === undefined) {
            if (nowMs - startMs >= 60_000) [startMs, letThrough] = [nowMs, 0];
            letThrough++;
            expect(letThrough).toBeLessThanOrEqual(perMinute);
          } else {
            expect(letThrough).toBe(perMinute);
            expect(nowMs - startMs).toBeLessThan(60_000);
            expect(refusalOf(limit, nowMs)).toBe(retryAfter); // a refused call is not added
            const backMs = nowMs + Number(retryAfter) * 1000;
            expect(backMs).toBeGreaterThanOrEqual(startMs + 60_000);
            expect(backMs).toBeLessThan(startMs + 61_000);
          }
          expect(limit.remaining(nowMs)).toBe(perMinute - letThrough);
          expect(limit.use(nowMs)).toMatchObject({ perMinute, used: letThrough });
        }
      }),
    );
  });
});
