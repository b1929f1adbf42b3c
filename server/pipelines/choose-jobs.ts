import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, changedFiles, committedFiles } from './checkout.ts';
import { readDefinition } from './definition.ts';
import { givenValues, type RunVariables, winningVariables } from './job-environment.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PipelineRequest, PipelineSurroundings } from './pipeline-request.ts';
import { type PlannedJob, planOf } from './plan.ts';
import { DEFINITION, type Repository } from './repository.ts';
import type { PipelineSource, RuleFacts } from './rules.ts';
import type { ScmProjectRecord } from './scm-client.ts';
import { askedFor } from './target.ts';
import { asVariables } from './variables.ts';

interface ChoiceOptions {
  asked: Pick<PipelineRequest, 'source' | 'only' | 'repository'>;
  around: Pick<PipelineSurroundings, 'env' | 'signal' | 'say'>;
  /** Of the run, for what reading leaves. */
  folder: string;
  checkout: Checkout;
  project: ScmProjectRecord;
  /** What sets a pipeline off gives it some of its variables. */
  variablesFor(source: PipelineSource): RunVariables;
}

/** What is run. */
export interface ChosenJobs {
  source: PipelineSource;
  jobs: readonly PlannedJob[];
  stages: readonly string[];
  variables: RunVariables;
  /** Paths of the commit. */
  tracked: ReadonlySet<string>;
}

/**
 * The jobs that the server would run: those of the merge request if any join its pipeline, or else the branch's.
 *
 * @throws PipelineError where none does, or none of those that were asked for
 */
export async function chooseJobs({
  asked,
  around,
  folder,
  checkout,
  project,
  variablesFor,
}: ChoiceOptions): Promise<ChosenJobs> {
  const { source: wanted, only, repository } = asked;
  const { env, signal, say } = around;
  const usual: PipelineSource[] =
    repository.branch === project.default_branch ? ['push'] : ['merge_request_event', 'push'];
  const sources = wanted ? [wanted] : usual;
  const files = await committedFiles(checkout.dir);
  const changed = await changedSince(repository, checkout, project);
  const hasIncludes = /^\s*include:/m.test(await readFile(join(checkout.dir, DEFINITION), 'utf8'));
  let definition: Awaited<ReturnType<typeof readDefinition>> | undefined;
  for (const source of sources) {
    const variables = variablesFor(source);
    if (!definition || hasIncludes) {
      definition = await readDefinition({ dir: checkout.dir, folder, variables: givenValues(variables), env, signal });
      await rm(join(checkout.dir, '.git', 'terrarium'), { recursive: true, force: true });
    }
    const facts: RuleFacts = { source, branch: repository.branch, files, changed: () => changed(source) };
    const after = winningVariables(variables, undefined);
    const planned = planOf({ definition, facts, before: asVariables(variables.predefined), after });
    const jobs =
      only.length === 0 ? planned : planned.filter(({ name, base }) => only.includes(name) || only.includes(base));
    const unknown = only.filter((one) => !planned.some(({ name, base }) => one === name || one === base));
    if (jobs.length > 0 && unknown.length === 0) {
      if (source !== sources[0])
        say(`no job joins the merge request's pipeline: a pipeline of the branch (push) is run`);
      return { source, jobs, stages: definition.stages, variables, tracked: new Set(files) };
    }
    if (source !== sources.at(-1)) continue;
    if (unknown.length > 0) {
      const isDefined = (one: string) => definition?.jobs.has(one);
      const why = unknown.every(isDefined) ? `, by its rules, for ${sources.join(' or ')}` : '';
      throw new PipelineError(
        `the pipeline has no job ${unknown.join(', ')}${why}: it has ${planned.map(({ name }) => name).join(', ') || 'none'}`,
      );
    }
    throw new PipelineError(
      `no job joins a pipeline of '${repository.branch}' for ${sources.join(' or ')}: look at the rules of its jobs and of its workflow, or choose another --source`,
    );
  }
  throw new PipelineError('there is no pipeline to run');
}

/** What counts as changed, by what sets a pipeline off. */
async function changedSince(repository: Repository, { dir, sha, baseSha }: Checkout, project: ScmProjectRecord) {
  const files =
    baseSha === undefined
      ? undefined
      : await changedFiles(repository.dir, baseSha, repository.sha).catch(() => undefined);
  const ofTree = sha === repository.sha ? [] : await changedFiles(dir, `${sha}~1`, sha);
  return (source: PipelineSource): readonly string[] | true => {
    if (source === 'web' || source === 'schedule') return true;
    if (files) return [...files, ...ofTree];
    // The first push of a branch changes everything.
    if (source === 'push') return true;
    throw new PipelineError(
      `rules ask what has changed since '${project.default_branch}', and ${repository.dir} has no such branch with a commit in common: fetch it (\`git fetch origin ${project.default_branch}\`, with --unshallow in a shallow clone), or run with --source web, for which all counts as changed`,
    );
  };
}

/** Throws PipelineError for one of the specification's variables that the definition or its scripts ask for in vain. */
export async function demandVariables({ dir }: Checkout, variables: RunVariables): Promise<void> {
  const text = await readFile(join(dir, DEFINITION), 'utf8');
  const scripts = [...new Set(Array.from(text.matchAll(/[\w./-]+\.(?:sh|bash|js|mjs|py)\b/g), ([name]) => name))];
  const read = (name: string) => readFile(join(dir, name), 'utf8').catch(() => '');
  const all = [text, ...(await Promise.all(scripts.map(read)))].join('\n');
  const given = givenValues(variables);
  const isGiven = (name: string) => Boolean(given[name]) || new RegExp(`^\\s+${name}:`, 'm').test(text);
  const missing = askedFor(all).filter((name) => !isGiven(name));
  if (missing.length > 0)
    throw new PipelineError(
      `the pipeline asks for ${missing.join(', ')}, and nothing gives a value: use --variable NAME=VALUE`,
    );
}
