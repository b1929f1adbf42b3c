import type { AllowFailure, Changes, JobDefinition, RefsFilter, Rule } from './definition-schema.ts';
import { isTrue } from './expression.ts';
import { expandText } from './job-variables.ts';
import { patternOf, ruleMatch } from './pattern.ts';

/** Sources of a pipeline, as in `CI_PIPELINE_SOURCE`. */
export const SOURCES = ['push', 'merge_request_event', 'web', 'schedule'] as const;
export type PipelineSource = (typeof SOURCES)[number];

/** The files of a commit, and which of them have changed. */
export interface ComparedFiles {
  files: readonly string[];
  /** Finds what the others tell, once. */
  compareCommits(): Promise<unknown>;
  /** Files that the push or the merge request changes; true: all count as changed. Throws PipelineError where that cannot be known. */
  changed(): readonly string[] | true;
  /** Files that have changed since the branch left the default branch, likewise. */
  changedSinceDefault(): readonly string[] | true;
}

export interface PipelineFacts extends ComparedFiles {
  source: PipelineSource;
  /** The branch, or the tag. */
  branch: string;
  isTag?: true;
}

export interface RuleFacts extends PipelineFacts {
  /** True if the definition's workflow has rules. Jobs without any then join each pipeline that those accept. */
  hasWorkflowRules: boolean;
}

/** Default of `only` for refs. */
const DEFAULT_ONLY: RefsFilter = { refs: ['branches', 'tags'] };

/** The part of a job in a pipeline. */
interface Part {
  when: string;
  allowFailure: AllowFailure;
  variables: Readonly<Record<string, string>>;
  needs?: JobDefinition['needs'];
  startIn?: string;
}

/** The first matching rule; undefined if none matches. */
export function matchingRule(
  rules: readonly Rule[],
  variables: Readonly<Record<string, string>>,
  facts: ComparedFiles,
): Rule | undefined {
  return rules.find((rule) => {
    if (rule.if !== undefined && !isTrue(rule.if, variables)) return false;
    if (
      rule.exists &&
      !rule.exists.paths.some((pattern) => facts.files.some(ruleMatch(expandText(pattern, variables))))
    )
      return false;
    return rule.changes === undefined || hasChanged(rule.changes, variables, facts);
  });
}

function hasChanged(
  { paths, compare_to: other }: Changes,
  variables: Readonly<Record<string, string>>,
  facts: ComparedFiles,
): boolean {
  const otherBranch = other && expandText(other, variables).replace('refs/heads/', '');
  const isOther = otherBranch !== undefined && otherBranch !== variables.CI_DEFAULT_BRANCH;
  const changed = isOther || (otherBranch === undefined ? facts.changed() : facts.changedSinceDefault());
  if (changed === true) return true;
  return paths.some((pattern) => changed.some(ruleMatch(expandText(pattern, variables))));
}

/** Decides if a job joins the pipeline, and how, as the server decides it; `decision` says why, for a job with conditions. */
export function partOf(
  job: JobDefinition,
  variables: Readonly<Record<string, string>>,
  facts: RuleFacts,
): { part: Part | undefined; decision: string | undefined } {
  const { rules, when = 'on_success' } = job;
  if (rules) {
    const rule = matchingRule(rules, variables, facts);
    if (!rule) return { part: undefined, decision: 'no rule matched' };
    const conditions = (['if', 'changes', 'exists'] as const).flatMap((key) =>
      rule[key] === undefined ? [] : `${key}: ${Object(rule[key]).paths ?? rule[key]}`,
    );
    const ofRule = rule.when === undefined ? '' : `, when: ${rule.when}`;
    const decision = `by rule ${rules.indexOf(rule) + 1}${conditions.length > 0 ? ` (${conditions.join(', ')})` : ''}${ofRule}`;
    const part = {
      when: rule.when ?? when,
      // A job that only its rule makes manual is waited for.
      allowFailure: rule.allow_failure ?? job.allow_failure ?? job.when === 'manual',
      variables: rule.variables ?? {},
      ...(rule.needs && { needs: rule.needs }),
      ...(rule.start_in !== undefined && { startIn: rule.start_in }),
    };
    return { part: part.when === 'never' ? undefined : part, decision };
  }
  const onlyFilter = job.only || !facts.hasWorkflowRules ? { ...DEFAULT_ONLY, ...job.only } : undefined;
  const isOut =
    (onlyFilter && !answers(onlyFilter, variables, facts).every(Boolean)) ||
    (job.except && answers(job.except, variables, facts).some(Boolean));
  const part = { when, allowFailure: job.allow_failure ?? when === 'manual', variables: {} };
  return { part: isOut ? undefined : part, decision: job.only || job.except ? 'by only and except' : undefined };
}

function answers(
  { refs, variables: expressions, changes }: RefsFilter,
  variables: Readonly<Record<string, string>>,
  facts: RuleFacts,
): boolean[] {
  return [
    ...(refs ? [refs.some((ref) => isRef(ref, facts))] : []),
    ...(expressions ? [expressions.some((expression) => isTrue(expression, variables))] : []),
    ...(changes ? [hasChanged(changes, variables, facts)] : []),
  ];
}

/** Sources as filters name them, in the singular and in the plural, as the server takes both. */
const BY_SOURCE: Readonly<Record<string, PipelineSource>> = {
  merge_request: 'merge_request_event',
  merge_requests: 'merge_request_event',
  push: 'push',
  pushes: 'push',
  web: 'web',
  webs: 'web',
  schedule: 'schedule',
  schedules: 'schedule',
};
const NEVER_HERE = /^(api|trigger|pipeline|external|chat|external_pull_request|parent_pipeline)s?$/;

function isRef(ref: string, { source, branch, isTag }: RuleFacts): boolean {
  const requiredSource = BY_SOURCE[ref];
  if (requiredSource !== undefined) return source === requiredSource;
  if (NEVER_HERE.test(ref)) return false;
  // A merge request's pipeline is of no branch.
  if (source === 'merge_request_event') return false;
  if (ref === 'tags') return isTag === true;
  if (ref === 'branches') return isTag !== true;
  const [name = ''] = ref.split('@', 1);
  const [, pattern, flags] = /^\/(.+)\/(i?)$/.exec(name) ?? [];
  if (pattern === undefined) return name === branch;
  return patternOf(pattern, flags)(branch);
}
