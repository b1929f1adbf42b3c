import { z } from 'zod';
import { faultOfHost, NETWORK_ERRORS, OWN_CRM } from './outbound-rule.ts';

/** Longest delay: longer than any timeout of a lambda. */
const MAX_DELAY_MS = 600_000;
export const MAX_OUTBOUND_RULES = 100;

const host = z
  .string()
  .superRefine((text, context) => {
    const fault = faultOfHost(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  })
  .describe(
    `Host name, in which \`*\` matches any part, with or without a port; \`${OWN_CRM}\` is the CRM of the calling lambda`,
  );
const shared = { id: z.guid().optional(), host, enabled: z.boolean().default(true) };

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
    message: "must have either a 'status' or an 'error'",
  });

export const outboundRulesRequest = z.strictObject({
  rules: z.array(outboundRuleRequest).max(MAX_OUTBOUND_RULES),
  revision: z
    .int()
    .optional()
    .describe('`version` from reading the rules: the request fails (409) if the rules were changed since then'),
});

export type OutboundRulesRequest = z.output<typeof outboundRulesRequest>;
