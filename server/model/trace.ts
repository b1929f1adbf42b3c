/*
 * W3C trace context, as far as the platform passes it on. Every request and invocation belongs to a trace: that of the `traceparent`
 * with which it came, or one that begins with it. What begins here is named after its execution id, so that nothing has to be kept.
 */

/** Version, trace, parent, flags; of versions to come more may follow. */
const TRACE_PARENT = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Of the flags those that have a meaning: sampled, random. */
const KNOWN_FLAGS = 0b11;
/** What begins here is recorded. */
const SAMPLED = '01';

/** What a valid `traceparent` says. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** Two hexadecimal digits, to be passed on. */
  flags: string;
}

/** Reads a `traceparent`; undefined for none, and for one that is malformed: a new trace begins there. */
export function readTraceParent(header: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, , flags = '', more] = TRACE_PARENT.exec(header) ?? [];
  if (traceId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, flags: (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0') };
}

/**
 * Of what follows from something here.
 *
 * @param id of that something, a random UUID: the parent of what follows is named after it, and the trace if it begins there
 */
export function traceParentFor(id: string, given: TraceParent | undefined): string {
  const own = traceBegunBy(id);
  return `00-${given?.traceId ?? own}-${own.slice(16)}-${given?.flags ?? SAMPLED}`;
}

/** The trace that begins with something. @param id a random UUID */
export function traceBegunBy(id: string): string {
  return id.replaceAll('-', '');
}
