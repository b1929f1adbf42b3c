import { z } from 'zod';
import { MAX_OUTBOUND_RULES } from '../model/outbound-rule-schema.ts';
import { FrameError } from './frames.ts';
import { OUTCOME_KINDS, type OutcomeHead } from './protocol.ts';

/*
 * What a lambda's process sends is read like anything else from outside: the lambda can reach the channel if it wants to.
 * (Apart from protocol.ts, so that the process itself does not carry zod: of these it knows the types.)
 */

/** Longest text that a process may put into a head: error messages, URLs. */
const TEXT_LIMIT = 16 * 1024;
const text = z.string().transform((value) => value.slice(0, TEXT_LIMIT));
const number = z.int();

/** Calls that lay ready and have not begun will not begin in this process. */
export const withdrawnHead = z.object({ numbers: z.array(number).max(100) });

/** Why loading failed, or what nobody caught. */
export const messageHead = z.object({ message: text });

/** A line about a call for the lambda's log. */
export const noteHead = z.object({
  number,
  message: text,
  /** Of output, by the process, before it. */
  writtenBytes: z.int(),
});
export type NoteHead = z.output<typeof noteHead>;

/**
 * News of an outbound call: method and url when it starts, later what became known since. With `body` the frame's body is the next
 * part of one of its bodies, empty once MAX_CAPTURED_BYTES of it have been told.
 */
export const outboundHead = z.object({
  number,
  /** 1, 2, 3 ... in this process. */
  id: z.int(),
  /** When it became known, by `monotonicMs`; absent for parts of bodies. */
  atMs: z.number().exactOptional(),
  method: text.exactOptional(),
  url: text.exactOptional(),
  /** The trace that it carries. */
  traceId: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .exactOptional(),
  caughtBy: z.literal('crm').exactOptional(),
  /** Rules that decided about it. */
  rules: z
    .array(z.object({ id: text, text }))
    .max(MAX_OUTBOUND_RULES)
    .exactOptional(),
  status: z.int().exactOptional(),
  error: text.exactOptional(),
  body: z
    .object({
      of: z.enum(['request', 'response']),
      /** So far. */
      sizeBytes: z.int().nonnegative(),
      contentType: text.exactOptional(),
      contentEncoding: text.exactOptional(),
    })
    .exactOptional(),
  ended: z.literal(true).exactOptional(),
});
export type OutboundHead = z.output<typeof outboundHead>;

/** The same of a call that a worker thread or a child process makes: it does not know which call of the lambda runs. */
export const offspringNews = outboundHead.omit({ number: true });
export type OutboundNews = z.output<typeof offspringNews>;

/** A debugger can attach there. */
export const inspectingHead = z.object({ url: z.url({ protocol: /^ws$/ }) });

/** What the process sends in the heads of frames, but for what every call has. */
export type SentHead = z.output<
  typeof withdrawnHead | typeof messageHead | typeof noteHead | typeof outboundHead | typeof inspectingHead
>;

const failedOutcome = z.tuple([z.enum(['error', 'crash', 'too-large']), text]);

/*
 * The two that every call has are rows of numbers, looked at by hand: with zod that took longer than all else that is done with them.
 */

/** A `BeganRow`; throws FrameError for anything else. */
export function readBegan(head: unknown): { number: number; atMs: number } {
  const [number = 0, atMs = 0] = numbersIn(head, 2);
  return { number, atMs };
}

/** An `OutcomeRow`; throws FrameError or ZodError for anything else. */
export function readOutcome(head: unknown): OutcomeHead {
  const row = numbersIn(head, 7);
  const [number = 0, kindAt = 0, atMs = 0, ranMs = 0, computedMs = 0, waitedMs = 0, hasWritten] = row;
  const kind = OUTCOME_KINDS[kindAt];
  if (kind === undefined) throw new FrameError('an outcome is of no kind');
  const outcome: OutcomeHead = { number, kind, atMs, ranMs, computedMs, waitedMs };
  if (hasWritten === 1) outcome.hasWritten = true;
  if (row.length > 7) [outcome.failure, outcome.message] = failedOutcome.parse(row.slice(7));
  return outcome;
}

/** A list that begins with so many numbers, the first of them whole. */
function numbersIn(head: unknown, count: number): number[] {
  if (!Array.isArray(head) || !Number.isInteger(head[0])) throw new FrameError('the head of a frame is no row');
  for (let at = 1; at < count; at++) {
    if (!Number.isFinite(head[at])) throw new FrameError('the row of a frame lacks a number');
  }
  return head; // what follows is whoever asks's to look at
}
