import { z } from 'zod';
import { faultOfHost, NETWORK_ERRORS, OWN_CRM } from './outbound-rule.ts';

/** A patient person's patience: longer than any lambda may take. */
const MAX_DELAY_MS = 600_000;
export const MAX_OUTBOUND_RULES = 100;

const host = z
  .string()
  .superRefine((text, context) => {
    const fault = faultOfHost(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  })
  .describe(`A host, \`*\` for any part of it, with or without a port; \`${OWN_CRM}\` is the lambda's own CRM`);
const shared = { id: z.guid().optional(), host, enabled: z.boolean().default(true) };

/** One rule as it is sent; a new one has no id yet. */
const outboundRuleRequest = z
  .discriminatedUnion('action', [
    z.strictObject({ ...shared, action: z.enum(['catch', 'pass', 'block']) }),
    z.strictObject({ ...shared, action: z.literal('delay'), delayMs: z.int().min(1).max(MAX_DELAY_MS) }),
    z.strictObject({
      ...shared,
      action: z.literal('fail'),
      status: z.int().min(200).max(599).exactOptional(),
      error: z.enum(NETWORK_ERRORS).exactOptional(),
    }),
  ])
  .refine((rule) => rule.action !== 'fail' || (rule.status === undefined) !== (rule.error === undefined), {
    message: "has either a 'status' or an 'error'",
  });

/** All rules, in the order in which they are asked. */
export const outboundRulesRequest = z.strictObject({
  rules: z.array(outboundRuleRequest).max(MAX_OUTBOUND_RULES),
  revision: z
    .int()
    .optional()
    .describe('What the rules were read with: they are refused (409) when somebody else has changed them since'),
});

export type OutboundRulesRequest = z.output<typeof outboundRulesRequest>;
