import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readTraceParent, traceParentFor, traceStartedBy } from './trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it.each([
    ['as it is', `00-${TRACE}-${PARENT}-01`, '01'],
    ['that is not sampled', `00-${TRACE}-${PARENT}-00`, '00'],
    ['with unknown flags', `00-${TRACE}-${PARENT}-ff`, '03'],
    ['of a version to come', `01-${TRACE}-${PARENT}-01-more`, '01'],
  ])('%s is read', (_how, header, flags) => {
    expect(readTraceParent(header)).toEqual({ traceId: TRACE, flags });
  });

  it.each([
    ['none', undefined],
    ['of this version with more behind', `00-${TRACE}-${PARENT}-01-more`],
    ['of the version that never will be', `ff-${TRACE}-${PARENT}-01`],
    ['with a trace of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['with a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['too short', `00-${TRACE}-${PARENT}`],
    ['that was sent twice', `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
    ['a very long one', `00-${'a'.repeat(100_000)}`],
  ])('%s begins a new trace', (_how, header) => {
    expect(readTraceParent(header)).toBeUndefined();
    const id = randomUUID();
    expect(traceParentFor(id, readTraceParent(header))).toMatch(
      new RegExp(`^00-${traceStartedBy(id)}-[0-9a-f]{16}-01$`),
    );
  });

  it('for what follows keeps trace and flags, and names a parent of its own that is never of zeros', () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const traceParent = readTraceParent(`00-${TRACE}-${PARENT}-00`);
    expect(traceParentFor(id, traceParent)).toBe(`00-${TRACE}-8000000000000000-00`);
    expect(readTraceParent(traceParentFor(id, undefined))?.traceId).toBe(id.replaceAll('-', ''));
  });
});
