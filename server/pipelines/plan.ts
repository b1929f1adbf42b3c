import type { AllowFailure, Definition, JobDefinition } from './definition.ts';
import { PipelineError } from './pipeline-error.ts';
import { partOf, type RuleFacts, ruleThatHolds } from './rules.ts';
import { asVariables, expanded, type Variables } from './variables.ts';

/** A job that a pipeline runs. */
export interface PlannedJob {
  name: string;
  /** Its name in the definition: jobs of a matrix share one. */
  base: string;
  stage: string;
  definition: JobDefinition;
  when: string;
  allowFailure: AllowFailure;
  /** What the definition gives it, without what project and server do: global ones, its own, its rule's, its matrix'. */
  variables: Variables;
  node: { index?: number; total: number };
  /** Names of jobs that it waits for; undefined: all of earlier stages. */
  needs: readonly string[] | undefined;
  /** Names of jobs whose artifacts it gets. */
  artifactsOf: readonly string[];
}

export interface PlanOptions {
  definition: Definition;
  facts: RuleFacts;
  /** What every job has before the definition's: the server's own; and what wins over it: the project's, and those typed. */
  before: Variables;
  after: Variables;
}

/**
 * The jobs that join a pipeline, by stages.
 *
 * @throws PipelineError for one that needs what is not there
 */
export function planOf({ definition, facts, before, after }: PlanOptions): PlannedJob[] {
  const workflow = workflowVariables({ definition, facts, before, after });
  if (!workflow) return [];
  const global = { ...definition.variables, ...workflow };
  const parts = [...definition.jobs].flatMap(([base, job]) =>
    instancesOf(base, job).flatMap(({ name, matrix, node }) => {
      const own = asVariables({ ...inherited(job, global), ...job.variables, ...matrix });
      const part = partOf(job, expanded({ ...before, ...own, ...after }), facts);
      return part ? [{ name, base, job, part, node, variables: { ...own, ...asVariables(part.variables) } }] : [];
    }),
  );
  const order = (stage: string) => definition.stages.indexOf(stage);
  parts.sort((one, other) => order(one.job.stage) - order(other.job.stage));
  const namesOf = (base: string) =>
    parts.filter((one) => one.base === base || one.name === base).map(({ name }) => name);
  return parts.map(({ name, base, job, part, variables, node }) => {
    const needs = (part.needs ?? job.needs)?.filter(
      ({ project, pipeline }) => project === undefined && pipeline === undefined,
    );
    for (const { job: needed = '', optional } of needs ?? []) {
      if (namesOf(needed).length > 0 || optional) continue;
      const why = definition.jobs.has(needed)
        ? 'is not part of this pipeline: make the need optional, or give both the same rules'
        : 'is not defined';
      throw new PipelineError(`job '${name}' needs '${needed}', which ${why}`);
    }
    const earlier = parts.filter((one) => order(one.job.stage) < order(job.stage));
    const carried = needs
      ? needs.filter(({ artifacts }) => artifacts !== false).flatMap(({ job: needed }) => namesOf(needed ?? ''))
      : earlier.map((one) => one.name);
    return {
      name,
      base,
      stage: job.stage,
      definition: job,
      when: part.when,
      allowFailure: part.allowFailure,
      variables,
      node,
      needs: needs?.flatMap(({ job: needed }) => namesOf(needed ?? '')),
      artifactsOf: job.dependencies ? job.dependencies.flatMap(namesOf) : carried,
    };
  });
}

/** Variables of the workflow's rule that holds; undefined: there is no pipeline. */
function workflowVariables({ definition, facts, before, after }: PlanOptions): Record<string, string> | undefined {
  const { workflowRules, variables } = definition;
  if (!workflowRules) return {};
  const rule = ruleThatHolds(workflowRules, expanded({ ...before, ...asVariables(variables), ...after }), facts);
  return !rule || rule.when === 'never' ? undefined : (rule.variables ?? {});
}

function inherited({ inherit }: JobDefinition, global: Readonly<Record<string, string>>): Record<string, string> {
  const which = inherit?.variables ?? true;
  if (which === false) return {};
  if (which === true) return global;
  return Object.fromEntries(Object.entries(global).filter(([name]) => which.includes(name)));
}

function instancesOf(
  base: string,
  { parallel }: JobDefinition,
): { name: string; matrix: Record<string, string>; node: PlannedJob['node'] }[] {
  if (parallel === undefined || parallel === null) return [{ name: base, matrix: {}, node: { total: 1 } }];
  if (typeof parallel === 'number') {
    return Array.from({ length: parallel }, (_, index) => ({
      name: `${base} ${index + 1}/${parallel}`,
      matrix: {},
      node: { index: index + 1, total: parallel },
    }));
  }
  const rows = parallel.matrix.flatMap((row) =>
    Object.entries(row).reduce<Record<string, string>[]>(
      (made, [name, values]) => made.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
      [{}],
    ),
  );
  return rows.map((matrix, index) => ({
    name: `${base}: [${Object.values(matrix).join(', ')}]`,
    matrix,
    node: { index: index + 1, total: rows.length },
  }));
}
