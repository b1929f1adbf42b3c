import { z } from 'zod';
import { invalid } from '../errors.ts';
import { idIn } from '../json.ts';
import { formFacts, idOrLinkOf } from '../property-facts.ts';
import type { Uuid } from '../record.ts';
import type { Draft, ResourceType } from '../resource-type.ts';
import { EVENT_RULE, LIMIT_RULE, limitOperators, parsePredicate } from '../rules/policy-rules.ts';
import { RULE, typeIdOf } from '../type-names.ts';
import { LAMBDA } from './lambda.ts';
import { EXAMPLE_ID, typed } from './schema-parts.ts';

/** The one action that can be suppressed (D-127). */
const SUPPRESSIBLE = /^[a-z]+\.create\.pre$/;

const ofLimit = { property: 'resource_type', is: ['Limit'] };

const properties = z.strictObject({
  match_actions: z
    .array(
      z.looseObject({
        action: z.string().min(1).describe('e.g. lambda.create.post'),
        meta_function: z.enum(['suppress']).optional(),
      }),
    )
    .optional()
    .describe('Required unless actions is set. Only <noun>.create.pre can be suppressed')
    .register(formFacts, { label: 'Matched actions', order: 1 }),
  actions: z.array(z.string().min(1)).optional().describe('Older form of match_actions'),
  // A rule stays when its lambda is deleted (D-076).
  lambda: idOrLinkOf(
    { to: { word: 'lambdas', right: 'invoke' }, onDelete: 'keeps', missing: 400 },
    'must be the id of a lambda',
  )
    .optional()
    .describe('The lambda that an event rule invokes; required for an event rule, unknown in a limit rule')
    .register(formFacts, { order: 2, when: { property: 'resource_type', is: ['Event'], isRequired: true } }),
  strict: z
    .boolean()
    .optional()
    .meta({ default: true, description: 'For a limit rule: false only logs a violation (default: true)' })
    .register(formFacts, { order: 4, when: ofLimit }),
  eval_logic: z
    .looseObject({
      property: z.string().describe('For example container.properties.num_instances, lambdas.count or user.name'),
      operator: z.enum(limitOperators),
      value: z.unknown().describe('The value to compare with, as JSON'),
    })
    .optional()
    .describe('The condition of a limit rule; required for a limit rule, unknown in an event rule')
    .register(formFacts, { label: 'Condition', order: 3, when: { ...ofLimit, isRequired: true } }),
});

const membersOfOthers: Readonly<Record<string, readonly string[]>> = {
  [EVENT_RULE]: ['strict', 'eval_logic'],
  [LIMIT_RULE]: ['lambda'],
};

/** Throws 400 unless the rule names actions and suppresses only actions that can be suppressed (D-076, D-127). */
function requireActions(draft: Draft): void {
  const { match_actions: matched, actions } = typed(properties, draft);
  if (!matched && !actions) throw invalid('/properties/match_actions', 'is required');
  matched?.forEach(({ action, meta_function }, index) => {
    if (meta_function === undefined || SUPPRESSIBLE.test(action)) return;
    throw invalid(
      `/properties/match_actions/${index}/meta_function`,
      `can only suppress <noun>.create.pre, not ${action}`,
    );
  });
}

function requireLambda(draft: Draft): Uuid {
  const id = idIn(draft.properties.lambda);
  if (id === undefined) throw invalid('/properties/lambda', 'is required for an event rule');
  return id;
}

/** D-076, D-077, section 8. */
export const rule: ResourceType = {
  name: RULE,
  collection: 'rules',
  singular: 'rule',
  summary: 'A rule of a policy: a limit for actions, or a lambda that actions invoke.',
  parents: ['policies'],
  properties,
  first: { match_actions: [{ action: 'lambda.create.post' }] },
  example: {
    name: 'notify',
    resource_type: 'Platform::Resource::Rule::Event',
    properties: { match_actions: [{ action: 'secret.create.post' }], lambda: EXAMPLE_ID },
  },
  serverSet: ['defined_at'],
  subTypes: [EVENT_RULE, LIMIT_RULE],

  validate(draft) {
    for (const name of membersOfOthers[draft.type] ?? []) {
      if (Object.hasOwn(draft.properties, name)) throw invalid(`/properties/${name}`, 'is not a known member');
    }
    requireActions(draft);
    if (draft.type === EVENT_RULE) return { properties: { ...draft.properties, lambda: requireLambda(draft) } };
    if (!draft.properties.eval_logic) throw invalid('/properties/eval_logic', 'is required for a limit rule');
    parsePredicate(draft.properties.eval_logic);
    return { properties: draft.properties };
  },

  toView(record, { view, link }) {
    const id = idIn(record.properties.lambda);
    const found = view.find(id ?? '');
    const lambda = found ? link(found) : id && { typeId: typeIdOf(LAMBDA), id };
    const policy = view.find(record.parent ?? '');
    const node = view.find(policy?.parent ?? '');
    return { ...record.properties, ...(lambda && { lambda }), ...(node && { defined_at: link(node) }) };
  },
};
