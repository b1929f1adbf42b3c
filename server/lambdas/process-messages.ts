import { z } from 'zod';
import { MAX_OUTBOUND_RULES } from '../model/outbound-rule-schema.ts';
import type {
  BeganHead,
  InspectingHead,
  MessageHead,
  NoteHead,
  OffspringNews,
  OutboundHead,
  OutcomeHead,
  WithdrawnHead,
} from './protocol.ts';

/*
 * What a lambda's process sends is read like anything else from outside: the lambda can reach the channel if it wants to.
 * (Apart from protocol.ts, so that the process itself does not carry zod.)
 */

/** Longest text that a process may put into a head: error messages, URLs. */
const TEXT_LIMIT = 16 * 1024;
const text = z.string().transform((value) => value.slice(0, TEXT_LIMIT));
const number = z.int();

export const beganHead = z.object({ number, atMs: z.number() }) satisfies z.ZodType<BeganHead>;

export const withdrawnHead = z.object({ numbers: z.array(number).max(100) }) satisfies z.ZodType<WithdrawnHead>;

export const messageHead = z.object({ message: text }) satisfies z.ZodType<MessageHead>;

export const noteHead = z.object({ number, message: text }) satisfies z.ZodType<NoteHead>;

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

export const outcomeHead = z.object({
  number,
  kind: z.enum(['nothing', 'text', 'json']),
  atMs: z.number(),
  ranMs: z.number(),
  computedMs: z.number(),
  waitedMs: z.number(),
  hasWritten: z.literal(true).exactOptional(),
  failure: z.enum(['error', 'crash', 'too-large']).exactOptional(),
  message: text.exactOptional(),
}) satisfies z.ZodType<OutcomeHead>;
