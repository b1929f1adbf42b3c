import { z } from 'zod';
import { MAX_OUTBOUND_RULES } from '../model/outbound-rule-schema.ts';
import { FrameError } from './frames.ts';
import {
  type BeganHead,
  type InspectingHead,
  type MessageHead,
  type NoteHead,
  type OffspringNews,
  OUTCOME_KINDS,
  type OutboundHead,
  type OutcomeHead,
  type WithdrawnHead,
} from './protocol.ts';

/*
 * What a lambda's process sends is read like anything else from outside: the lambda can reach the channel if it wants to.
 * (Apart from protocol.ts, so that the process itself does not carry zod.)
 */

/** Longest text that a process may put into a head: error messages, URLs. */
const TEXT_LIMIT = 16 * 1024;
const text = z.string().transform((value) => value.slice(0, TEXT_LIMIT));
const number = z.int();

export const withdrawnHead = z.object({ numbers: z.array(number).max(100) }) satisfies z.ZodType<WithdrawnHead>;

export const messageHead = z.object({ message: text }) satisfies z.ZodType<MessageHead>;

export const noteHead = z.object({ number, message: text, writtenBytes: z.int() }) satisfies z.ZodType<NoteHead>;

export const outboundHead = z.object({
  number,
  id: z.int(),
  atMs: z.number().exactOptional(),
  method: text.exactOptional(),
  url: text.exactOptional(),
  traceId: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .exactOptional(),
  caughtBy: z.literal('crm').exactOptional(),
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
}) satisfies z.ZodType<OutboundHead>;

export const offspringNews = outboundHead.omit({ number: true }) satisfies z.ZodType<OffspringNews>;

export const inspectingHead = z.object({ url: z.url({ protocol: /^ws$/ }) }) satisfies z.ZodType<InspectingHead>;

const failedOutcome = z.tuple([z.enum(['error', 'crash', 'too-large']), text]);

/*
 * The two that every call has are rows of numbers, looked at by hand: with zod that took longer than all else that is done with them.
 */

/** A `BeganRow`; throws FrameError for anything else. */
export function readBegan(head: unknown): BeganHead {
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
