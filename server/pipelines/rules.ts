import type { AllowFailure, JobDefinition, RefsFilter, Rule } from './definition.ts';
import { isTrue } from './expression.ts';
import { ruleMatch } from './globs.ts';
import { PipelineError } from './pipeline-error.ts';
import { expandText } from './variables.ts';

/** What has set off a pipeline, as `CI_PIPELINE_SOURCE` says it. */
export const SOURCES = ['push', 'merge_request_event', 'web', 'schedule'] as const;
export type PipelineSource = (typeof SOURCES)[number];

/** What rules can ask about. */
export interface RuleFacts {
  source: PipelineSource;
  branch: string;
  /** Files of the commit. */
  files: readonly string[];
  /** Files that have changed; true: all count as changed. Throws PipelineError where that cannot be told. */
  changed(): readonly string[] | true;
}

/** How a job takes part in a pipeline; undefined: not at all. */
interface Part {
  when: string;
  allowFailure: AllowFailure;
  variables: Readonly<Record<string, string>>;
  needs?: JobDefinition['needs'];
}

/** The first rule that holds; undefined: none does. */
export function ruleThatHolds(
  rules: readonly Rule[],
  variables: Readonly<Record<string, string>>,
  facts: RuleFacts,
): Rule | undefined {
  return rules.find((rule) => {
    if (rule.if !== undefined && !isTrue(rule.if, variables)) return false;
    if (rule.exists && !rule.exists.some((one) => facts.files.some(ruleMatch(expandText(one, variables)))))
      return false;
    return rule.changes === undefined || hasChanged(rule.changes, variables, facts);
  });
}

function hasChanged(
  patterns: readonly string[],
  variables: Readonly<Record<string, string>>,
  facts: RuleFacts,
): boolean {
  const changed = facts.changed();
  if (changed === true) return true;
  return patterns.some((one) => changed.some(ruleMatch(expandText(one, variables))));
}

/** Whether a job joins the pipeline, and how, as the server decides it. */
export function partOf(
  job: JobDefinition,
  variables: Readonly<Record<string, string>>,
  facts: RuleFacts,
): Part | undefined {
  const when = job.when ?? 'on_success';
  if (job.rules) {
    const rule = ruleThatHolds(job.rules, variables, facts);
    const chosen = rule?.when ?? when;
    if (!rule || chosen === 'never') return undefined;
    return {
      when: chosen,
      // Within rules a manual job is waited for, unless it says that it may be left out.
      allowFailure: rule.allow_failure ?? job.allow_failure ?? false,
      variables: rule.variables ?? {},
      ...(rule.needs && { needs: rule.needs }),
    };
  }
  const only = job.only ?? (job.except ? undefined : { refs: ['branches', 'tags'] });
  const isOut =
    (only && !answers(only, variables, facts).every(Boolean)) ||
    // Without `only` what is left out is left out of what pushes run.
    (!job.only && facts.source === 'merge_request_event') ||
    (job.except && answers(job.except, variables, facts).some(Boolean));
  if (isOut) return undefined;
  return { when, allowFailure: job.allow_failure ?? when === 'manual', variables: {} };
}

/** What a filter asks, each answered. */
function answers(
  { refs, variables: expressions, changes }: RefsFilter,
  variables: Readonly<Record<string, string>>,
  facts: RuleFacts,
): boolean[] {
  return [
    ...(refs ? [refs.some((ref) => isRef(ref, facts))] : []),
    ...(expressions ? [expressions.some((one) => isTrue(one, variables))] : []),
    ...(changes ? [hasChanged(changes, variables, facts)] : []),
  ];
}

const BY_SOURCE: Readonly<Record<string, PipelineSource>> = {
  merge_requests: 'merge_request_event',
  pushes: 'push',
  web: 'web',
  schedules: 'schedule',
};
const NEVER_HERE = ['tags', 'api', 'triggers', 'pipelines', 'external', 'chat', 'external_pull_requests'];

function isRef(ref: string, { source, branch }: RuleFacts): boolean {
  const wanted = BY_SOURCE[ref];
  if (wanted !== undefined) return source === wanted;
  if (NEVER_HERE.includes(ref)) return false;
  // A merge request's pipeline is of no branch.
  if (source === 'merge_request_event') return false;
  if (ref === 'branches') return true;
  const [name = ''] = ref.split('@', 1);
  const [, pattern, flags] = /^\/(.+)\/(i?)$/.exec(name) ?? [];
  if (pattern === undefined) return name === branch;
  try {
    return new RegExp(pattern, flags).test(branch);
  } catch {
    throw new PipelineError(`the pattern ${name} of 'only' or 'except' cannot be read`);
  }
}
