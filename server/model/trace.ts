/* All requests and invocations belong to a trace; new ids are derived from the execution id, so that nothing has to be stored. */

/** Version, trace, parent, flags; future versions can have more. */
const TRACE_PARENT = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The defined flags: sampled, random. */
const KNOWN_FLAGS = 0b11;
const SAMPLED = '01';

export interface TraceParent {
  traceId: string;
  flags: string;
}

/** Parses a `traceparent`; undefined if absent or malformed: a new trace is started. */
export function readTraceParent(header: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, , flags = '', more] = TRACE_PARENT.exec(header) ?? [];
  if (traceId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, flags: (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0') };
}

/** The `traceparent` for an outbound request: the parent id, and the id of a new trace, are derived from a random UUID of the sender. */
export function traceParentFor(id: string, parent: TraceParent | undefined): string {
  const newTraceId = traceStartedBy(id);
  return `00-${parent?.traceId ?? newTraceId}-${newTraceId.slice(16)}-${parent?.flags ?? SAMPLED}`;
}

/** A new trace. @param id a random UUID */
export function traceStartedBy(id: string): string {
  return id.replaceAll('-', '');
}
