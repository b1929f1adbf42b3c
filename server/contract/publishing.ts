import { z } from 'zod';
import { named } from './named.ts';
import { may } from './right.ts';
import { json, ok, rowsOf } from './row.ts';

/** The one here. */
const AN_ENVIRONMENT = { id: 'environment_id', of: ['environments'] } as const;

const credentials = z
  .union([
    z.strictObject({ user: z.string().min(1).max(255), password: z.string().min(1).max(1024) }),
    z.strictObject({ token: z.string().min(1).max(4096) }),
  ])
  .describe(
    'A key and its secret, or a user name and its password; or an access token. Used for this request and not kept',
  );

const place = {
  direction: z.enum(['pull', 'push']).describe('From there to here, or from here to there'),
  metaUrl: z
    .url({ protocol: /^https?$/ })
    .describe('`{meta_url}` of the other platform')
    .meta({ examples: ['https://meta.example.com/meta'] }),
  path: z
    .string()
    .min(1)
    .max(1000)
    .describe(
      'The environment there as `fqon/workspace/environment`, by names; followed by `/lambdas/NAME` or `/apis/NAME`, that one ' +
        'with what belongs to it',
    )
    .meta({ examples: ['demo/website/development', 'demo/website/development/lambdas/contact-form'] }),
  credentials,
};

const step = z.object({
  id: z.string().describe('E.g. `lambda contact-form` or `endpoint website/contact`'),
  kind: z.enum(['lambda', 'api', 'endpoint']),
  name: z.string(),
  action: z.enum(['create', 'update', 'unchanged']),
  patch: z
    .array(z.object({ op: z.string(), path: z.string(), value: z.unknown().optional() }))
    .describe('RFC 6902, on what is there with names in place of ids and code as text'),
  diff: z.array(z.string()).describe('The same to read: lines that begin with `+`, `-` or a blank'),
  conflict: z.string().optional().describe('Why it would overwrite what somebody else did'),
  missing: z.string().optional().describe('What is not there and has to be before this can be done'),
});
export type PublishingStep = z.output<typeof step>;

const check = z.object({ name: z.string(), isGood: z.boolean(), sentence: z.string() });
export type PublishingCheck = z.output<typeof check>;

const plan = named(
  'PublishingPlan',
  z.object({
    from: z.string().describe('Address and path'),
    to: z.string(),
    steps: z.array(step),
    left: z.array(z.string()).describe('What is not carried and why, a sentence each'),
    checks: z.array(check).describe('What should hold before a push; none before a pull'),
    seen: z.string().describe('Names this very plan: what is sent along when it is carried out'),
  }),
);
export type PublishingPlan = z.output<typeof plan>;

const carried = named(
  'Carried',
  z.object({
    done: z.array(z.string()).describe('Ids of the steps that were done, those that had nothing to do left out'),
    failed: z.object({ step: z.string(), sentence: z.string() }).optional().describe('Where it ended before its time'),
    notDone: z.array(z.string()).describe('Ids of the steps that remain: carry again to do them'),
  }),
);
export type Carried = z.output<typeof carried>;

/** Between this platform and another one. */
export const publishingRows = rowsOf('Publishing', {
  planPublishing: {
    route: 'post /inspect/publishing/{environment_id}/plan',
    summary: 'What a pull or a push would change',
    description:
      'Lambdas with their APIs and endpoints, carried between an environment here and one of another platform by nothing but the ' +
      'resource service of both. Values of secrets are never carried.',
    right: may('lambda.create', 'environment_id'),
    target: AN_ENVIRONMENT,
    body: json(named('PublishingRequest', z.strictObject(place))),
    answer: ok(plan),
    errors: [404, 409, 502],
    isPrivate: true,
  },
  carryPublishing: {
    route: 'post /inspect/publishing/{environment_id}/carry',
    summary: 'Pull or push',
    description:
      'Does the steps of a plan one after the other and stops at the first that fails; carried again it does the rest. 409 when what ' +
      'would be done is no longer what the plan said. Nothing is deleted.',
    right: may('lambda.create', 'environment_id'),
    target: AN_ENVIRONMENT,
    body: json(
      named(
        'CarryRequest',
        z.strictObject({
          ...place,
          seen: z.string().describe('Of the plan'),
          overwrite: z
            .array(z.string())
            .optional()
            .describe('Ids of the steps that are done in spite of their conflict'),
        }),
      ),
    ),
    answer: ok(carried),
    errors: [404, 409, 502],
    isPrivate: true,
  },
});
