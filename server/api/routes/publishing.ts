import { z } from 'zod';
import { object, patchOperations, strictObject } from '../schemas/parts.ts';
import { defineRoutes, json, ok, permission, route } from './route.ts';

const AN_ENVIRONMENT = { id: 'environment_id', types: ['environments'] } as const;
const mayCopy = permission('lambda.create', AN_ENVIRONMENT.id);

const credentials = z
  .union([
    z.strictObject({ user: z.string().min(1).max(255), password: z.string().min(1).max(1024) }),
    z.strictObject({ token: z.string().min(1).max(4096) }),
  ])
  .describe(
    'A key with its secret, a user name with its password, or an access token. Used for this request and not stored',
  );

const publishingMembers = {
  direction: z.enum(['pull', 'push']).describe('From the other platform to this one, or from this one to the other'),
  metaUrl: z
    .url({ protocol: /^https?$/ })
    .describe('`{meta_url}` of the other platform')
    .meta({ examples: ['https://meta.example.com/meta'] }),
  path: z
    .string()
    .min(1)
    .max(1000)
    .describe(
      'The environment on the other platform as `fqon/workspace/environment`, by names. Add `/lambdas/NAME` or `/apis/NAME` for ' +
        'one lambda or for one API with its endpoints',
    )
    .meta({ examples: ['demo/website/development', 'demo/website/development/lambdas/contact-form'] }),
  credentials,
};

const examplePublishing = {
  direction: 'pull',
  metaUrl: 'https://meta.example.com/meta',
  path: 'demo/website/development',
  credentials: { user: 'ada.byrne', password: 'your password' },
};

const step = z.object({
  id: z.string().describe('For example `lambda contact-form` or `endpoint website/contact`'),
  kind: z.enum(['lambda', 'api', 'endpoint']),
  name: z.string(),
  action: z.enum(['create', 'update', 'unchanged']),
  patch: patchOperations.describe('RFC 6902 operations on the target, with names in place of ids and code as text'),
  diff: z.array(z.string()).describe('The operations as readable lines that begin with `+`, `-` or a space'),
  conflict: z.string().optional().describe('Which change at the target the step would overwrite'),
  missing: z.string().optional().describe('What must exist before the step can be done'),
});
export type PublishingStep = z.output<typeof step>;

const check = z.object({ name: z.string(), isGood: z.boolean(), sentence: z.string() });
export type PublishingCheck = z.output<typeof check>;

const plan = object('PublishingPlan', {
  from: z.string().describe('Address and path'),
  to: z.string(),
  steps: z.array(step),
  left: z.array(z.string()).describe('What is not copied and why, one sentence each'),
  checks: z.array(check).describe('Checks before a push; empty for a pull'),
  seen: z.string().describe('Identifies this plan; send it to execute the plan'),
});
export type PublishingPlan = z.output<typeof plan>;

const carried = object('Carried', {
  done: z.array(z.string()).describe('IDs of the completed steps; steps without changes are left out'),
  failed: z.object({ step: z.string(), sentence: z.string() }).optional().describe('The failed step, and the error'),
  notDone: z.array(z.string()).describe('IDs of the remaining steps; push or pull again to do them'),
});
export type Applied = z.output<typeof carried>;

export const publishingRoutes = defineRoutes('Publishing', {
  planPublishing: route('post /inspect/publishing/{environment_id}/plan', mayCopy, {
    summary: 'Plan a pull or a push',
    description:
      'Copies lambdas with their APIs and endpoints between an environment of this platform and one of another platform, using ' +
      'only the public resource API of both. Values of secrets are never copied.',
    target: AN_ENVIRONMENT,
    body: json(strictObject('PublishingRequest', publishingMembers), examplePublishing),
    answer: ok(plan),
    errors: [409, 502],
    isPrivate: true,
  }),
  applyPublishing: route('post /inspect/publishing/{environment_id}/carry', mayCopy, {
    summary: 'Execute a pull or a push',
    description:
      'Performs the steps of a plan in order and stops at the first failure. Repeat the request to do the remaining steps. Returns ' +
      '409 if the steps no longer match the plan. Nothing is deleted.',
    target: AN_ENVIRONMENT,
    body: json(
      strictObject('CarryRequest', {
        ...publishingMembers,
        seen: z.string().describe('`seen` of the plan'),
        overwrite: z.array(z.string()).optional().describe('IDs of the steps to perform despite a conflict'),
      }),
      { ...examplePublishing, seen: 'seen of the plan' },
    ),
    answer: ok(carried),
    errors: [409, 502],
    isPrivate: true,
  }),
});
