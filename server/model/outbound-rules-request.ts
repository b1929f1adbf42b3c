import { z } from 'zod';
import { faultOfTemplates } from './answer-template.ts';
import type { Json } from './json.ts';
import { faultOfHost, NETWORK_ERRORS, OWN_CRM } from './outbound-rule.ts';

/** Longest delay: longer than any timeout of a lambda. */
const MAX_DELAY_MS = 600_000;
export const MAX_OUTBOUND_RULES = 100;
const MAX_ANSWER_BODY_BYTES = 256 * 1024;
const MAX_COUNTED_CALLS = 1_000_000;

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

const status = z.int().min(200).max(599).exactOptional();
const headers = z
  .record(
    z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not a header name'),
    z
      .string()
      .regex(/^[\t\x20-\x7e\x80-\xff]*$/)
      .describe('Can contain parts of the request, as `body` can'),
  )
  .refine(
    (record) => !Object.keys(record).some((name) => /^(content-length|transfer-encoding|connection)$/i.test(name)),
    {
      message: 'must not contain Content-Length, Transfer-Encoding or Connection, which follow from the body',
    },
  );
// Any JSON value: a recursive schema has no place in the API document.
const body = z
  .custom<Json>()
  .refine((value) => Buffer.byteLength(JSON.stringify(value ?? null)) <= MAX_ANSWER_BODY_BYTES, {
    message: `is longer than ${MAX_ANSWER_BODY_BYTES} bytes. Use 'file' instead.`,
  })
  .describe(
    'Text is sent as it is, any other value as JSON. Parts of the request replace `{{request.method}}`, `{{request.path}}`, ' +
      '`{{request.query.NAME}}`, `{{request.headers.NAME}}`, `{{request.body}}` and `{{request.body.NAME}}`; `{{now}}` is the time ' +
      'and `{{uuid}}` a random id',
  );

const outboundRuleRequest = z
  .discriminatedUnion('action', [
    z.strictObject({ ...shared, action: z.enum(['catch', 'pass', 'block']) }),
    z.strictObject({ ...shared, action: z.literal('delay'), delayMs: z.int().min(1).max(MAX_DELAY_MS) }),
    z.strictObject({
      ...shared,
      action: z.literal('fail'),
      status,
      error: z.enum(NETWORK_ERRORS).exactOptional(),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('answer'),
      status: status.describe('Default: 200'),
      headers: headers.exactOptional(),
      body: body.exactOptional(),
      file: z
        .string()
        .min(1)
        .exactOptional()
        .describe('The absolute path of a file to send instead of `body`; it is read for each call'),
      times: z
        .int()
        .min(1)
        .max(MAX_COUNTED_CALLS)
        .exactOptional()
        .describe('The number of calls to answer. Later calls are left to the following rules.'),
      after: z
        .int()
        .min(0)
        .max(MAX_COUNTED_CALLS)
        .exactOptional()
        .describe('The number of calls to leave to the following rules first'),
    }),
  ])
  .refine((rule) => rule.action !== 'fail' || (rule.status === undefined) !== (rule.error === undefined), {
    message: "must have either a 'status' or an 'error'",
  })
  .refine((rule) => rule.action !== 'answer' || rule.body === undefined || rule.file === undefined, {
    message: "must have a 'body' or a 'file', not both",
  })
  .refine((rule) => rule.action !== 'answer' || rule.file === undefined || /^([/\\]|[A-Za-z]:)/.test(rule.file), {
    message: 'must be an absolute path, because the platform and lambdas run in other folders',
    path: ['file'],
  })
  .superRefine((rule, context) => {
    const fault = rule.action === 'answer' && faultOfTemplates(JSON.stringify([rule.body, rule.headers]));
    // With the host, because clients also send the other rules, which an earlier version may have accepted.
    if (fault) context.addIssue({ code: 'custom', message: `the answer for ${rule.host} ${fault}` });
  });

export const outboundRulesRequest = z.strictObject({
  rules: z.array(outboundRuleRequest).max(MAX_OUTBOUND_RULES),
  revision: z
    .int()
    .optional()
    .describe('`revision` from reading the rules: the request fails (409) if the rules were changed since then'),
});

export type OutboundRulesRequest = z.output<typeof outboundRulesRequest>;
