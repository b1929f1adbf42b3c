import { z } from 'zod';

/** The services with fault rules: two of the control plane, and the others by the names of their addresses. */
export const FAULT_SERVICES = ['resources', 'security', 'gateway', 'scm', 'crm', 'smtp'] as const;
export type FaultService = (typeof FAULT_SERVICES)[number];

export const MAX_FAULT_RULES = 100;
/** Longest delay: longer than clients of the platform wait. */
const MAX_DELAY_MS = 60_000;
const MAX_COUNTED_REQUESTS = 1_000_000;
export const MAX_SEED = 2 ** 32 - 1;

const counted = (min: number) => z.int().min(min).max(MAX_COUNTED_REQUESTS).exactOptional();

export const faultRequest = z
  .strictObject({
    service: z
      .enum(FAULT_SERVICES)
      .describe('`resources` is `/meta`, `scm` the mock GitLab, `crm` the mock CRM, `smtp` the mock mail server'),
    method: z
      .string()
      .regex(/^[A-Z]{1,20}$/, 'is not an HTTP method, such as POST')
      .exactOptional(),
    path: z
      .string()
      .max(1_000)
      .regex(/^[/*]/, 'must start with / or *')
      .exactOptional()
      .describe('Path without the query; `*` matches any part'),
    status: z
      .int()
      .min(400)
      .max(599)
      .exactOptional()
      .describe(
        "Status of the response, which has the form of the service's errors; for `smtp`, the code of the reply",
      ),
    delayMs: z
      .int()
      .min(1)
      .max(MAX_DELAY_MS)
      .exactOptional()
      .describe('Milliseconds to wait first; without `status` and `cut`, the service then responds as usual'),
    cut: z.literal(true).exactOptional().describe('Closes the connection instead of a response'),
    times: counted(1).describe(
      'Number of requests to which the rule applies. Later ones are left to the following rules.',
    ),
    after: counted(0).describe('Number of requests to leave to the following rules first'),
    percent: z
      .int()
      .min(1)
      .max(100)
      .exactOptional()
      .describe(
        'The rule applies to so many percent of the requests, chosen by `seed`. Others are left to the following rules.',
      ),
    seed: z
      .int()
      .min(0)
      .max(MAX_SEED)
      .exactOptional()
      .describe(
        'Decides which of the requests `percent` chooses: the same of them for the same seed. Random if absent.',
      ),
  })
  .refine(({ status, delayMs, cut }) => status !== undefined || delayMs !== undefined || cut, {
    message: "must have a 'status', a 'delayMs' or 'cut'",
  })
  .refine(({ status, cut }) => status === undefined || !cut, { message: "must have a 'status' or 'cut', not both" })
  .refine(({ percent, seed }) => percent !== undefined || seed === undefined, {
    message: "must have a 'percent' with its 'seed'",
  })
  .refine(({ service, method, path }) => service !== 'smtp' || (method === undefined && path === undefined), {
    message: "must not have a 'method' or 'path' with the service smtp: the rule applies to mails",
  });
export type FaultRequest = z.output<typeof faultRequest>;

export interface FaultRule extends FaultRequest {
  id: string;
  /** Number of requests that matched, since the rule was created. */
  matched: number;
  /** Number of requests to which the rule applied. */
  applied: number;
}

type OptionalMembers<T> = { [Name in keyof T]: T[Name] | undefined };

/** Describes a rule in one line, such as `scm: 503 after 200 ms for 30 % of POST /api/v4/* (seed 7)`. */
export function describeFault(
  rule: Pick<FaultRule, 'service'> & OptionalMembers<Omit<FaultRequest, 'service'>>,
): string {
  const { service, method, path, status, delayMs, cut, percent, seed } = rule;
  const effect = cut ? 'connection cut' : (status ?? 'delay');
  const delay = delayMs === undefined ? '' : ` ${cut || status ? 'after' : 'of'} ${delayMs} ms`;
  const requests = [method, path].filter((part) => part !== undefined).join(' ');
  const share = percent === undefined ? requests : `${percent} % of ${requests || 'requests'} (seed ${seed})`;
  return `${service}: ${effect}${delay}${share && ` for ${share}`}`;
}

export const isUsedUp = ({ times, applied }: Pick<FaultRule, 'times' | 'applied'>): boolean =>
  times !== undefined && applied >= times;
