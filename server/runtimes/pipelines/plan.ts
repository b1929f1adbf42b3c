import type { AllowFailure, Definition, JobDefinition } from './definition-schema.ts';
import { identityOf, valuesInEnvironment } from './job-identity.ts';
import { asVariables, expandText, type RunVariables, type Variables, valuesOf } from './job-variables.ts';
import { PipelineError } from './pipeline-error.ts';
import { DEFINITION } from './repository.ts';
import { matchingRule, type PipelineFacts, partOf } from './rules.ts';

export interface PlannedJob {
  name: string;
  /** Its name in its own pipeline, for a job of a child pipeline. */
  ownName?: string;
  /** Its name in the definition: jobs of a matrix share one. */
  base: string;
  stage: string;
  definition: JobDefinition;
  when: string;
  /** The delay that applies if `when` is `delayed`. */
  startIn: string | undefined;
  allowFailure: AllowFailure;
  /** The variables from the definition: global ones, those of the job, its rule and its matrix; without those of project and server. */
  variables: Variables;
  /** The part of `variables` that the job, its rule and its matrix set. */
  ownVariables: Variables;
  node: { index?: number; total: number };
  /** Names of jobs that it waits for; undefined: all of earlier stages. */
  needs: readonly string[] | undefined;
  /** All jobs that it waits for, if only some of the pipeline's jobs run. */
  awaited?: readonly string[];
  artifactsOf: readonly string[];
  decision: string | undefined;
  /** Jobs of one group do not run at the same time. */
  resourceGroup: string | undefined;
}

export const isTrigger = ({ definition }: PlannedJob) => definition.script === undefined;

export interface Plan {
  /** The jobs that take part, ordered by stages. */
  jobs: PlannedJob[];
  /** Jobs that do not take part, and the rule that decides. */
  leftOut: { name: string; decision: string | undefined }[];
}

/**
 * The jobs that join a pipeline.
 *
 * @throws PipelineError for one that needs what is not there, and for jobs that wait for each other
 */
export function planOf(definition: Definition, pipelineFacts: PipelineFacts, variables: RunVariables): Plan {
  const facts = { ...pipelineFacts, hasWorkflowRules: definition.workflowRules !== undefined };
  const leftOut: Plan['leftOut'] = [];
  // Refused whichever jobs join, as the server does.
  refuseCycle(
    [...definition.jobs].map(
      ([name, { needs }]) => [name, needsHere(needs)?.map(({ job = '' }) => job) ?? []] as const,
    ),
  );
  const ofWorkflow = valuesOf(variables, asVariables(definition.variables));
  const workflow = workflowVariables(definition.workflowRules, ofWorkflow, facts);
  if (!workflow) return { jobs: [], leftOut };
  const global = { ...definition.variables, ...workflow };
  const parts = [...definition.jobs].flatMap(([base, job]) =>
    instancesOf(base, job).flatMap(({ name, matrix, node }) => {
      const ofJob = asVariables({ ...job.variables, ...matrix });
      const jobValues = { ...asVariables(inherited(job, global)), ...ofJob };
      const identity = identityOf({ name, stage: job.stage, node });
      // The address of an environment is not known yet.
      const environment = job.environment && { ...job.environment, url: undefined };
      const { values } = valuesInEnvironment(variables, identity, jobValues, environment);
      const { part, decision } = partOf(job, values, facts);
      if (part) {
        const ofRule = asVariables(part.variables);
        const variables = { ...jobValues, ...ofRule };
        return [{ name, base, job, part, node, decision, values, variables, ownVariables: { ...ofJob, ...ofRule } }];
      }
      leftOut.push({ name, decision });
      return [];
    }),
  );
  // As the server, which creates no pipeline for these stages alone.
  if (parts.every(({ job }) => job.stage === '.pre' || job.stage === '.post')) return { jobs: [], leftOut };
  const order = (stage: string) => definition.stages.indexOf(stage);
  parts.sort((a, b) => order(a.job.stage) - order(b.job.stage));
  const namesOf = (base: string) =>
    parts.filter((candidate) => candidate.base === base || candidate.name === base).map(({ name }) => name);
  const namesFor = ({ job: needed = '', parallel }: Need) => {
    const matrixNames = parallel && rowsOf(parallel.matrix).map((row) => nameOf(needed, row));
    return matrixNames ? namesOf(needed).filter((name) => matrixNames.includes(name)) : namesOf(needed);
  };
  const planned = parts.map(({ name, base, job, part, values, variables, ownVariables, node, decision }) => {
    const needs = needsHere(part.needs ?? job.needs);
    for (const need of needs ?? []) {
      const { job: needed = '', optional, parallel } = need;
      if (namesFor(need).length > 0 || optional) continue;
      const why = parallel
        ? 'has no parallel job with these values of its matrix'
        : definition.jobs.has(needed)
          ? 'is not part of this pipeline. Make the need optional, or give both jobs the same rules.'
          : 'is not defined';
      throw new PipelineError(`job '${name}' needs '${needed}', which ${why}`);
    }
    const earlier = parts.filter((earlierPart) => order(earlierPart.job.stage) < order(job.stage));
    const carried = needs
      ? needs.filter(({ artifacts }) => artifacts !== false).flatMap(namesFor)
      : earlier.map((earlierPart) => earlierPart.name);
    return {
      name,
      base,
      stage: job.stage,
      definition: job,
      when: part.when,
      startIn: part.startIn ?? job.start_in ?? undefined,
      allowFailure: part.allowFailure,
      variables,
      ownVariables,
      node,
      needs: needs?.flatMap(namesFor),
      decision,
      resourceGroup: job.resource_group && (expandText(job.resource_group, values) || job.resource_group),
      artifactsOf: job.dependencies ? job.dependencies.flatMap(namesOf) : carried,
    };
  });
  refuseCycle(planned.map((job) => [job.name, neededJobs(job, planned, definition.stages)] as const));
  return { jobs: planned, leftOut };
}

type Need = NonNullable<JobDefinition['needs']>[number];

function needsHere(needs: JobDefinition['needs']): JobDefinition['needs'] {
  return needs?.filter(({ project, pipeline }) => project === undefined && pipeline === undefined);
}

/** Names of the jobs that must end before a job starts. */
export function neededJobs(
  { needs, awaited, stage }: PlannedJob,
  jobs: readonly PlannedJob[],
  stages: readonly string[],
): readonly string[] {
  const isEarlier = (candidate: PlannedJob) => stages.indexOf(candidate.stage) < stages.indexOf(stage);
  return awaited ?? needs ?? jobs.filter(isEarlier).map(({ name }) => name);
}

/** The jobs with these names, or the names of their parallel jobs. Each waits for those of them that it waits for if all jobs run. */
export function chosenJobs(
  jobs: readonly PlannedJob[],
  names: readonly string[],
  stages: readonly string[],
): PlannedJob[] {
  return jobs.filter(isAmong(names)).map((job) => {
    const awaited = new Set(neededJobs(job, jobs, stages));
    // A set has the names that are added meanwhile, too. A chosen job itself waits for those before it.
    for (const name of awaited) {
      const next = jobs.find((other) => other.name === name);
      if (next && !isAmong(names)(next)) for (const earlier of neededJobs(next, jobs, stages)) awaited.add(earlier);
    }
    return { ...job, ...(job.needs && { awaited: [...awaited] }) };
  });
}

/** Is a job one of these, or a parallel job of one? */
export const isAmong =
  (names: readonly string[]) =>
  ({ name, base }: PlannedJob) =>
    names.includes(name) || names.includes(base);

/** Throws PipelineError for jobs, each with those that it waits for, of which some wait for each other. */
function refuseCycle(jobs: Iterable<readonly [name: string, awaited: readonly string[]]>): void {
  const awaited = new Map(jobs);
  const visited = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      const cycle = [...path.slice(path.indexOf(name)), name].join(' -> ');
      throw new PipelineError(`${DEFINITION}: circular needs: ${cycle}. Remove one of these needs.`);
    }
    if (visited.has(name)) return;
    visited.add(name);
    for (const next of awaited.get(name) ?? []) visit(next, [...path, name]);
  };
  for (const name of awaited.keys()) visit(name, []);
}

/** Variables of the matching workflow rule; undefined if the workflow has no pipeline. */
function workflowVariables(
  rules: Definition['workflowRules'],
  variables: Readonly<Record<string, string>>,
  facts: PipelineFacts,
): Record<string, string> | undefined {
  if (!rules) return {};
  const rule = matchingRule(rules, variables, facts);
  return !rule || rule.when === 'never' ? undefined : (rule.variables ?? {});
}

function inherited({ inherit }: JobDefinition, global: Readonly<Record<string, string>>): Record<string, string> {
  const inheritedNames = inherit?.variables ?? true;
  if (inheritedNames === false) return {};
  if (inheritedNames === true) return global;
  return Object.fromEntries(Object.entries(global).filter(([name]) => inheritedNames.includes(name)));
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
  const rows = rowsOf(parallel.matrix);
  return rows.map((matrix, index) => ({
    name: nameOf(base, matrix),
    matrix,
    node: { index: index + 1, total: rows.length },
  }));
}

function rowsOf(matrix: readonly Readonly<Record<string, readonly string[]>>[]): Record<string, string>[] {
  return matrix.flatMap((row) =>
    Object.entries(row).reduce<Record<string, string>[]>(
      (combinations, [name, values]) =>
        combinations.flatMap((combination) => values.map((value) => ({ ...combination, [name]: value }))),
      [{}],
    ),
  );
}

function nameOf(base: string, row: Readonly<Record<string, string>>): string {
  return `${base}: [${Object.values(row).join(', ')}]`;
}
