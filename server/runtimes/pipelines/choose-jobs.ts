import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lazy } from '../../system/lazy.ts';
import { type Checkout, changedFiles } from './checkout.ts';
import { type ReadingRun, readDefinition } from './definition.ts';
import type { Definition } from './definition-schema.ts';
import { givenValues, type RunVariables } from './job-variables.ts';
import { type Finding, findingText } from './keywords.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PipelineRequest, PlanContext } from './pipeline-request.ts';
import { chosenJobs, isAmong, isTrigger, type Plan, type PlannedJob, planOf } from './plan.ts';
import { commitOf, DEFINITION, type Repository } from './repository.ts';
import type { ComparedFiles, PipelineFacts, PipelineSource } from './rules.ts';
import type { ScmProjectRecord } from './scm-client.ts';

interface ChoiceOptions extends ReadingRun {
  request: Pick<PipelineRequest, 'source' | 'only' | 'repository' | 'isPushed' | 'retryOf'>;
  context: PlanContext;
  checkout: Checkout;
  project: ScmProjectRecord;
  beforeSha: string | undefined;
  /** Returns the variables of a pipeline, some of which depend on its source. */
  variablesFor(source: PipelineSource): RunVariables;
}

export interface ChosenJobs extends Plan {
  source: PipelineSource;
  /** The branch pipeline's source if that pipeline has jobs next to the merge request pipeline. */
  nextSource?: PipelineSource;
  stages: readonly string[];
  variables: RunVariables;
  facts: PipelineFacts;
  global: Definition['global'];
}

type ChangedFiles = Omit<ComparedFiles, 'files'>;

const ALL_CHANGED: ChangedFiles = {
  compareCommits: async () => undefined,
  changed: () => true,
  changedSinceDefault: () => true,
};

/**
 * Chooses the jobs that GitLab would run first: the merge request pipeline's if any join it, or else the branch pipeline's.
 *
 * @throws PipelineError where none does, or none of those that were asked for
 */
export async function chooseJobs(options: ChoiceOptions): Promise<ChosenJobs> {
  const { request, context, checkout, project, variablesFor } = options;
  const { source: requestedSource, only, repository } = request;
  const usual: PipelineSource[] =
    repository.branch === project.default_branch || repository.isTag ? ['push'] : ['merge_request_event', 'push'];
  const sources = requestedSource ? [requestedSource] : usual;
  const changesFor = changesOf(options);
  const hasIncludes = /^\s*include:/m.test(await readFile(join(checkout.dir, DEFINITION), 'utf8'));
  let definition: Definition | undefined;
  const planFor = async (source: PipelineSource, changes = changesFor(source)) => {
    const variables = variablesFor(source);
    const { branch, isTag } = repository;
    const facts: PipelineFacts = { source, branch, ...(isTag && { isTag }), files: checkout.files, ...changes };
    if (!definition || hasIncludes)
      definition = await readDefinition({ ...options, dir: checkout.dir, variables: givenValues(variables), facts });
    return { ...planOf(definition, facts, variables), definition, variables, facts };
  };
  const missingIn = (planned: readonly PlannedJob[]) => only.filter((jobName) => !planned.some(isAmong([jobName])));
  for (const source of sources) {
    let plan = await planFor(source);
    // A job that is run again was part of the pipeline, although the commits that rules compare may have changed since.
    if (request.retryOf !== undefined && missingIn(plan.jobs).length > 0) plan = await planFor(source, ALL_CHANGED);
    const { jobs: planned, leftOut, definition, variables, facts } = plan;
    const jobs = only.length === 0 ? planned : chosenJobs(planned, only, definition.stages);
    const unknown = missingIn(planned);
    if (jobs.length > 0 && unknown.length === 0) {
      const { stages, global } = definition;
      const chosen = { source, jobs, stages, variables, leftOut, facts, global };
      if (requestedSource) return chosen;
      const branchJobs = sources.length === 1 ? undefined : source === 'push' ? jobs : (await planFor('push')).jobs;
      context.reportLine(choiceText(repository, chosen, only, branchJobs));
      const hasNext = source !== 'push' && only.length === 0 && branchJobs !== undefined && branchJobs.length > 0;
      return hasNext ? { ...chosen, nextSource: 'push' } : chosen;
    }
    if (source !== sources.at(-1)) continue;
    if (unknown.length > 0) {
      const isDefined = (jobName: string) => definition.jobs.has(jobName);
      for (const { name } of planned.filter(isTrigger)) {
        const ofChild = unknown.filter((jobName) => jobName.startsWith(`${name} / `) && !isDefined(jobName));
        if (ofChild.length > 0)
          throw new PipelineError(
            `a job of a child pipeline cannot be started alone: ${ofChild.join(', ')}. Start '${name}'.`,
          );
      }
      const why = unknown.every(isDefined) ? `, by its rules, for ${sources.join(' or ')}` : '';
      throw new PipelineError(
        `the pipeline has no job ${unknown.join(', ')}${why}. Its jobs: ${planned.map(({ name }) => name).join(', ') || 'none'}`,
      );
    }
    throw new PipelineError(
      `a pipeline of '${repository.branch}' for ${sources.join(' or ')} has no jobs. Check the rules of its jobs and its workflow, or choose another --source.`,
    );
  }
  throw new PipelineError('the pipeline has no jobs');
}

/** Returns a line that says which pipeline runs without `--source`, why, and which jobs the branch pipeline has besides. */
function choiceText(
  { branch, isTag }: Repository,
  { source, jobs }: Pick<ChosenJobs, 'source' | 'jobs'>,
  requestedJobs: readonly string[],
  branchJobs: readonly PlannedJob[] | undefined,
): string {
  const namesOf = (planned: readonly PlannedJob[]) => planned.map(({ name }) => name).join(', ');
  if (isTag) return `runs the tag pipeline (push): '${branch}' is a tag`;
  if (source === 'push') {
    if (branchJobs === undefined) return `runs the branch pipeline (push): '${branch}' is the default branch`;
    const missing = requestedJobs.length > 0 ? `does not have ${requestedJobs.join(', ')}` : 'has no jobs';
    return `runs the branch pipeline (push): the merge request pipeline ${missing}`;
  }
  const text = `runs the merge request pipeline (merge_request_event) of '${branch}': ${namesOf(jobs)}`;
  if (!branchJobs?.length) return `${text}. The branch pipeline (push) has no jobs.`;
  if (requestedJobs.length > 0) return `${text}. The branch pipeline (--source push) has ${namesOf(branchJobs)}.`;
  return `${text}. The branch pipeline (push) runs after it: ${namesOf(branchJobs)}. To run only one, set --source.`;
}

/** @throws PipelineError for a keyword that is refused, unless the run is forced */
export function printFindings(findings: readonly Finding[], isForced = false, printLine: (line: string) => void): void {
  for (const finding of findings) {
    if (finding.state === 'refused' && !isForced)
      throw new PipelineError(`${findingText(finding)}. To run the pipeline nevertheless, set --force.`);
    printLine(`not as on GitLab: ${findingText(finding)}`);
  }
}

function changesOf({
  request,
  context,
  checkout,
  project,
  beforeSha,
}: ChoiceOptions): (source: PipelineSource) => ChangedFiles {
  const { repository, isPushed } = request;
  const { dir, branch, sha, isTag } = repository;
  const { default_branch: defaultBranch } = project;
  const filesSince = async (from: string | undefined) =>
    from === undefined ? undefined : changedFiles(dir, from, sha).catch(() => undefined);
  let ofPush: string[] | undefined;
  let ofBranch: string[] | undefined;
  let ofTree: string[] = [];
  const compareCommits = lazy(async () => {
    // For a push to the mock GitLab the commit before is known; a local run is like a push to the remote.
    const remoteSha = isPushed ? beforeSha : await commitOf(dir, `refs/remotes/origin/${branch}`);
    const isOfPush = remoteSha !== sha && (isPushed || branch !== defaultBranch);
    [ofPush, ofBranch, ofTree] = await Promise.all([
      isOfPush ? filesSince(remoteSha) : undefined,
      filesSince(checkout.baseSha),
      checkout.sha === sha ? [] : changedFiles(checkout.dir, `${checkout.sha}~1`, checkout.sha),
    ]);
  });
  const sinceBase = (): readonly string[] => {
    if (ofBranch) return [...ofBranch, ...ofTree];
    const cause = checkout.defaultSha
      ? 'has no commit in common with it: in a shallow clone, run `git fetch --unshallow`'
      : 'has no such branch: run `git fetch origin`';
    throw new PipelineError(
      `rules ask what has changed since '${defaultBranch}', and ${dir} ${cause}, or run with --source web, for which all counts as changed`,
    );
  };
  let isNoted = false;
  const withPush = () => {
    if (ofPush) return [...ofPush, ...ofTree];
    // The first push of a branch changes everything.
    if (isPushed || !ofBranch) return true;
    if (branch !== defaultBranch && !isNoted)
      context.reportLine(
        `rules:changes compares '${branch}' with the point where it left '${defaultBranch}', because the commit before the push is not known. On GitLab, all files count as changed with the first push of a branch.`,
      );
    isNoted = true;
    return sinceBase();
  };
  const countsAsChanged = (source: PipelineSource) => source === 'web' || source === 'schedule' || isTag === true;
  return (source) => ({
    compareCommits,
    changed: () => countsAsChanged(source) || (source === 'push' ? withPush() : sinceBase()),
    changedSinceDefault() {
      if (branch === defaultBranch) return ofTree;
      return (countsAsChanged(source) && !ofBranch) || sinceBase();
    },
  });
}

/** Throws PipelineError if no deployment address is known, but the definition or its scripts read it. */
export async function requireDeployUrl({ dir }: Checkout, variables: RunVariables): Promise<void> {
  if (givenValues(variables).PLATFORM_DEPLOY_URL) return;
  const text = await readFile(join(dir, DEFINITION), 'utf8');
  const scripts = [...new Set(Array.from(text.matchAll(/[\w./-]{1,255}\.(?:sh|bash|js|mjs|py)\b/g), ([name]) => name))];
  const read = (name: string) => readFile(join(dir, name), 'utf8').catch(() => '');
  const all = [text, ...(await Promise.all(scripts.map(read)))].join('\n');
  if (/\$\{?PLATFORM_DEPLOY_URL\b/.test(all) && !/^\s+PLATFORM_DEPLOY_URL:/m.test(text))
    throw new PipelineError(
      'the pipeline requires PLATFORM_DEPLOY_URL, but no value is set. Use --variable NAME=VALUE.',
    );
}
