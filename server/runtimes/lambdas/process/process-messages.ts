import { z } from 'zod';
import { MOCK_NAMES, TRANSPORTS } from '../../../model/invocation.ts';
import { MAX_OUTBOUND_RULES } from '../../../model/outbound-rules-request.ts';
import { FrameError } from './frames.ts';
import { type BeganRow, OUTCOME_KINDS, OutcomeFlag, type OutcomeHead } from './protocol.ts';

/*
 * What a lambda's process sends is read like anything else from outside: the lambda can reach the channel if it wants to.
 * (Apart from protocol.ts, so that the process itself does not carry zod: of these it knows the types.)
 */

/** Longest text that a process may put into a head: error messages, URLs. */
const TEXT_LIMIT = 16 * 1024;
const text = z.string().transform((value) => value.slice(0, TEXT_LIMIT));
const number = z.int();

/** Queued calls that have not started, and will not start in this process. */
export const recalledHead = z.object({ numbers: z.array(number).max(100) });

export const messageHead = z.object({ message: text });

/** A process or thread that it has started: the id of a process, and whether that has ended; neither for a thread. */
export const subprocessHead = z.object({ pid: z.int().min(2).exactOptional(), ended: z.literal(true).exactOptional() });
export type SubprocessHead = z.output<typeof subprocessHead>;

/** A call that an outbound rule with `times` or `after` has matched; its number is the answer. */
export const countCallHead = z.object({ request: number, ruleId: text });

export const memoryHead = z.object({ usedMb: z.number() });

export const noteHead = z.object({
  number,
  message: text,
  writtenBytes: z.int(),
});
export type NoteHead = z.output<typeof noteHead>;

/** A report about an outbound call; `body` is the next part of a body, empty once MAX_CAPTURED_BYTES of it have been sent. */
export const outboundHead = z.object({
  number,
  id: z.int(),
  /** When it became known, by `monotonicMs`; absent for parts of bodies. */
  atMs: z.number().exactOptional(),
  method: text.exactOptional(),
  url: text.exactOptional(),
  traceId: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .exactOptional(),
  caughtBy: z.enum(MOCK_NAMES).exactOptional(),
  /** The port from which a connection reaches a mock. */
  localPort: z.int().exactOptional(),
  connection: z
    .object({
      host: text,
      port: z.int(),
      transport: z.enum(TRANSPORTS),
      sentBytes: z.int().nonnegative(),
      receivedBytes: z.int().nonnegative(),
    })
    .exactOptional(),
  /** The connection turned out to carry HTTP calls, which have records of their own. */
  carriesHttp: z.literal(true).exactOptional(),
  /** A `block` rule, or the policy, refused it. */
  blocked: z.literal(true).exactOptional(),
  /** It was sent to a host outside this machine. */
  leftMachine: z.boolean().exactOptional(),
  afterRedirect: z.literal(true).exactOptional(),
  rules: z
    .array(z.object({ id: text, text }))
    .max(MAX_OUTBOUND_RULES)
    .exactOptional(),
  status: z.int().exactOptional(),
  error: text.exactOptional(),
  body: z
    .object({
      of: z.enum(['request', 'response']),
      sizeBytes: z.int().nonnegative(),
      contentType: text.exactOptional(),
      contentEncoding: text.exactOptional(),
    })
    .exactOptional(),
  ended: z.literal(true).exactOptional(),
  /** The execution id of an invocation that had responded before it sent this request. */
  lateOf: text.exactOptional(),
});
export type OutboundHead = z.output<typeof outboundHead>;

/** A report of a call by a worker thread or a child process, which does not know which call of the lambda runs. */
export const subprocessReport = outboundHead.omit({ number: true, lateOf: true });
export type OutboundNews = z.output<typeof subprocessReport>;

export const inspectingHead = z.object({ url: z.url({ protocol: /^ws$/ }) });

export type SentHead = z.output<
  | typeof recalledHead
  | typeof messageHead
  | typeof memoryHead
  | typeof countCallHead
  | typeof noteHead
  | typeof outboundHead
  | typeof inspectingHead
  | typeof subprocessHead
>;

const failedOutcome = z.tuple([z.enum(['error', 'too-large', 'invalid-result']), text]);

/* Every call has these two: rows of numbers, checked without zod, which took longer than all else that is done with them. */

/** A `BeganRow`; throws FrameError for anything else. */
export function readBegan(head: unknown): BeganRow {
  const [number = 0, atMs = 0] = numbersIn(head, 2);
  return [number, atMs];
}

/** An `OutcomeRow`; throws FrameError or ZodError for anything else. */
export function readOutcome(head: unknown): OutcomeHead {
  const row = numbersIn(head, 7);
  const [number = 0, kindAt = 0, atMs = 0, ranMs = 0, computedMs = 0, waitedMs = 0, flags = 0] = row;
  const kind = OUTCOME_KINDS[kindAt];
  if (kind === undefined) throw new FrameError('an outcome has an unknown kind');
  const outcome: OutcomeHead = { number, kind, atMs, ranMs, computedMs, waitedMs };
  if (flags & OutcomeFlag.hasWritten) outcome.hasWritten = true;
  if (flags & OutcomeFlag.goesOn) outcome.goesOn = true;
  if (row.length === 8) outcome.contentType = text.parse(row[7]);
  if (row.length > 8) [outcome.failure, outcome.message] = failedOutcome.parse(row.slice(7));
  return outcome;
}

function numbersIn(head: unknown, count: number): number[] {
  if (!Array.isArray(head) || !Number.isInteger(head[0])) throw new FrameError('the head of a frame is not a row');
  for (let at = 1; at < count; at++) {
    if (!Number.isFinite(head[at])) throw new FrameError('the row of a frame lacks a number');
  }
  return head; // the caller looks at what follows
}

interface Exit {
  code: number | null;
  signal: string | null;
  stderrTail: string;
  uncaught: string | undefined;
  memoryMb: number;
}

export function describeExit({ code, signal, stderrTail, uncaught, memoryMb }: Exit): string {
  if (/heap out of memory|Array buffer allocation failed/.test(stderrTail) && code !== 0) return outOfMemory(memoryMb);
  if (uncaught && code !== 0) return `${uncaught} (its process has ended; the trace is in the lambda's log)`;
  if (signal) return `the lambda's process was ended by signal ${signal}`;
  return `the lambda's process ended with exit code ${code}; to end a handler, return a result or call its callback instead`;
}

export function outOfMemory(memoryMb: number): string {
  return `the lambda ran out of memory at ${memoryMb} MB; increase its property 'memory', or use less memory`;
}
