import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { deliveryRoutes } from '../../api/routes/delivery.ts';
import { keyRoutes } from '../../api/routes/security.ts';
import { jobTokenOf } from '../../mocks/scm/scm-pipelines.ts';
import { hasEnded, type PipelineStart } from '../../model/pipeline-run.ts';
import { MASK, masked } from '../../model/rules/mask.ts';
import { withLoopbackNoProxy } from '../../system/no-proxy.ts';
import { type Checkout, makeCheckout, pushCommit } from './checkout.ts';
import { type ExpectedChild, expectedChildren, jobsIn } from './child-pipeline.ts';
import { type ChosenJobs, chooseJobs, printFindings, requireDeployUrl } from './choose-jobs.ts';
import {
  expandText,
  givenValues,
  type JobVariable,
  projectVariables,
  type RunVariables,
  valuesOf,
} from './job-variables.ts';
import { findingsIn } from './keywords.ts';
import { CANCELED, diskFullError, PipelineError } from './pipeline-error.ts';
import type {
  PipelineContext,
  PipelineEnd,
  PipelinePlan,
  PipelineRequest,
  PlanContext,
  PlanOfJobs,
} from './pipeline-request.ts';
import { isTrigger } from './plan.ts';
import type { PlatformCalls } from './platform-calls.ts';
import { NO_COMMIT, predefinedVariables } from './predefined.ts';
import { recordedRun } from './recorded-run.ts';
import { commitOf, type Repository } from './repository.ts';
import type { PipelineSource } from './rules.ts';
import { makeRunFolder, type RunFolder, type RunOwner, sweepLeftovers } from './run-folder.ts';
import { sampleBase } from './sample-base.ts';
import { type ScmMergeRequestRecord, type ScmProjectRecord, scmOf } from './scm-client.ts';
import { DEFAULT_SERVICE_PORT, findAccount, makePipelineKey, targetIn, targetVariables } from './target.ts';

/** Removes the objects that a killed run leaves on the platform: its key, and a record with the state `running`. */
async function cleanUp(platform: PlatformCalls, { baseUrl, apiKey, runId }: RunOwner): Promise<void> {
  if (baseUrl !== platform.baseUrl) return;
  if (apiKey !== undefined)
    await platform.ask(keyRoutes.deleteApiKey, { path: { api_key: apiKey } }).catch(() => undefined);
  if (runId === undefined) return;
  const path = { pipeline_id: runId };
  const { jobs } = await platform.ask(deliveryRoutes.readPipelineRun, { path });
  const ended = jobs.map((job) => (hasEnded(job) ? job : { ...job, state: 'canceled' as const }));
  const log = ['Its runner was killed. The files and containers that it left were removed.'];
  const json = { state: 'canceled' as const, jobs: ended, log, exitCode: CANCELED };
  await platform.ask(deliveryRoutes.tellPipelineRun, { path, json });
}

/**
 * Runs a commit's pipelines against a platform, and updates the platform's records of them. Without a source these are, as on GitLab, the
 * merge request pipeline and then the branch pipeline, if both have jobs.
 * @throws PipelineError if a run cannot start
 */
export async function runPipelines(request: PipelineRequest, context: PipelineContext): Promise<PipelineEnd[]> {
  const first = await runPipeline(request, context);
  if (first.nextSource === undefined || first.exitCode === CANCELED) return [first];
  return [first, await runPipeline({ ...request, source: first.nextSource }, context)];
}

async function runPipeline(request: PipelineRequest, callerContext: PipelineContext): Promise<PipelineEnd> {
  const { platform, signal, reportLine } = callerContext;
  const { repository, target } = request;
  await sweepLeftovers((owner) => cleanUp(platform, owner));
  return inRunFolder(callerContext, async (folder, context) => {
    const isSampleBuilt = !request.isKept && (request.only.length === 0 || request.only.includes('build'));
    const typed = { ...(isSampleBuilt && (await sampleBase(context))), ...request.typed };
    const server = await scmOf(platform);
    const project = await server.scm.ensureProject(projectPath(request), repository.defaultBranch);
    const source = await readSource({ request, context, folder, typed, ...server, project });
    const isPushed = request.isPushed === true || request.retryOf !== undefined;
    const pushing = isPushed
      ? undefined
      : pushCommit(request, source.checkout, { ...source, signal, printLine: reportLine });
    const mergeRequest = await mergeRequestFor(source, (title) =>
      server.scm.createMergeRequest(project, repository.branch, title),
    );
    signal.throwIfAborted();
    const key = await makePipelineKey(platform, target.account);
    try {
      await folder.note({ apiKey: key.key });
      const plan = await planJobs({ ...source, mergeRequest }, key);
      const start = await startOf({ ...source, ...plan, mergeRequest }, key);
      signal.throwIfAborted();
      await pushing;
      const end = await recordedRun({ ...source, ...plan, start });
      const { nextSource } = plan.chosen;
      return nextSource === undefined ? end : { ...end, nextSource };
    } finally {
      await key.end().catch(() => reportLine("the pipeline's API key could not be revoked"));
    }
  });
}

/**
 * Finds the jobs that a run would have. Creates nothing on the platform or its mock GitLab: placeholders represent the project, the merge
 * request and the API key that only a run creates.
 * @throws PipelineError if a run could not start
 */
export function planPipeline(request: PipelineRequest, callerContext: PlanContext): Promise<PipelinePlan> {
  return inRunFolder(callerContext, async (folder, context) => {
    const { branch, defaultBranch: default_branch } = request.repository;
    const server = await scmOf(context.platform);
    const path = projectPath(request);
    const web_url = `${server.scmUrl}/${path}`;
    const project = (await server.scm.findProject(path)) ?? {
      id: 0,
      name: basename(path),
      path_with_namespace: path,
      default_branch,
      web_url,
    };
    await findAccount(context.platform, request.target.account);
    const source = await readSource({ request, context, folder, typed: request.typed, ...server, project });
    const unopened = { id: 0, iid: 0, target_branch: project.default_branch, web_url };
    const mergeRequest = await mergeRequestFor(source, async (title) => ({ ...unopened, title }));
    const { chosen, children, findings, secrets } = await planJobs({ ...source, mergeRequest }, PLACEHOLDER_KEY);
    const { sha } = source.checkout;
    return masked({ source: chosen.source, branch, sha, findings, ...planShown(chosen, children) }, secrets);
  });
}

/** Works in a private folder, which is removed afterwards, and with the variables that jobs may inherit. */
async function inRunFolder<C extends PlanContext, T>(
  context: C,
  work: (folder: RunFolder, context: C) => Promise<T>,
): Promise<T> {
  const { platform, signal, env } = context;
  let folder: RunFolder | undefined;
  try {
    folder = await makeRunFolder(platform.baseUrl);
    return await work(folder, { ...context, env: withLoopbackNoProxy(withoutOurs(env)) });
  } catch (failure) {
    if (signal.aborted) throw new PipelineError('canceled', CANCELED);
    throw diskFullError(failure) ?? failure;
  } finally {
    await folder?.remove();
  }
}

const projectPath = ({ project, repository }: PipelineRequest): string =>
  project ?? repository.originPath ?? `local/${basename(repository.dir)}`;

interface SourceOptions extends Awaited<ReturnType<typeof scmOf>> {
  request: PipelineRequest;
  context: PlanContext;
  folder: RunFolder;
  typed: Readonly<Record<string, string>>;
  project: ScmProjectRecord;
}

/** Checks out the commit, and finds the commit before it. */
async function readSource<O extends SourceOptions>(options: O) {
  const { request, context, folder, scmUrl, project } = options;
  const { repository, takesWorkingTree } = request;
  const { platform, signal, reportLine } = context;
  const defaultBranch = project.default_branch;
  const originUrl = `${scmUrl}/${project.path_with_namespace}.git`;
  const to = join(folder.path, 'checkout');
  const checkout = await makeCheckout({ repository, to, takesWorkingTree, defaultBranch, originUrl, signal });
  for (const line of linesOnTree(request, checkout)) reportLine(line);
  const beforeSha = request.beforeSha ?? (await commitBefore(repository, checkout, project, platform));
  return { ...options, originUrl, defaultBranch, checkout, beforeSha };
}

interface PlanOptions extends Awaited<ReturnType<typeof readSource>> {
  mergeRequest: ScmMergeRequestRecord | undefined;
}

type KeyPair = Pick<Awaited<ReturnType<typeof makePipelineKey>>, 'key' | 'secret'>;
const PLACEHOLDER_KEY: KeyPair = { key: MASK, secret: MASK };

/** Chooses the jobs, also of child pipelines, and finds what differs from GitLab in them. */
async function planJobs(options: PlanOptions, key: KeyPair) {
  const { variablesFor, ...secretsOfRun } = await variablesOf(options, key);
  const chosen = await chooseJobs({ ...options, variablesFor });
  const { jobs, variables, facts } = chosen;
  const children = await expectedChildren(jobs, variables, { ...options, facts });
  const findings = findingsIn([...jobs, ...jobsIn(children)], chosen.global);
  return { ...secretsOfRun, chosen, children, findings };
}

type PlannedRun = PlanOptions & Awaited<ReturnType<typeof planJobs>>;

/** Checks that the run may start; returns how its record begins. */
async function startOf(options: PlannedRun, { key }: KeyPair): Promise<Omit<PipelineStart, 'jobs'>> {
  const { request, context, project, checkout, mergeRequest, chosen, findings, secrets, jobTokenId } = options;
  const { source, variables } = chosen;
  const { branch, isTag, dir } = request.repository;
  printFindings(findings, request.isForced, context.reportLine);
  await requireDeployUrl(checkout, variables);
  if (mergeRequest)
    context.reportLine(`merge request !${mergeRequest.iid} of ${project.path_with_namespace}: ${mergeRequest.web_url}`);
  return {
    project: { id: project.id, path: project.path_with_namespace },
    branch,
    sha: checkout.sha,
    ...(isTag && { isTag }),
    ...(mergeRequest && { mergeRequest: { iid: mergeRequest.iid, url: mergeRequest.web_url } }),
    variables: { present: namesShown(variables), missing: [] },
    ...targetIn(givenValues(variables), secrets),
    source,
    hasWorkingTree: request.takesWorkingTree,
    apiKey: key,
    jobTokenId,
    ...(request.isKept && { folder: dir }),
    ...(request.startedBy !== undefined && { startedBy: request.startedBy }),
    ...(request.retryOf !== undefined && { retryOf: request.retryOf }),
    ...(request.isPushed && { beforeSha: options.beforeSha ?? NO_COMMIT }),
  };
}

/** The variables of the run's jobs, for each source that its pipeline may have, and what of them is secret. */
async function variablesOf(options: PlanOptions, key: KeyPair) {
  const { request, context, folder, typed, token, scm, project } = options;
  const { branch, isTag } = request.repository;
  const { default_branch: defaultBranch } = project;
  const ofProject = projectVariables(await scm.variables(project), { branch, defaultBranch });
  if (ofProject.withheld.length > 0)
    context.reportLine(
      `not set, because only the protected branch '${defaultBranch}' gets them: ${ofProject.withheld.join(', ')}`,
    );
  const files = await createFileVariables(ofProject.variables, folder.filesDir);
  const jobTokenId = randomUUID();
  const jobToken = jobTokenOf(jobTokenId, token);
  const secrets = [key.secret, typed.PLATFORM_API_SECRET ?? '', jobToken, ...ofProject.secrets];
  const { APP_SERVICE_PORT: _guess, ...target } = await targetVariables(context.platform, request.target);
  const ofGroup = {
    ...target,
    PLATFORM_API_KEY: key.key,
    PLATFORM_API_SECRET: key.secret,
    SCM_PROJECT_ID: String(project.id),
    SCM_PROJECT_NAME: project.name,
  };
  const variablesFor = (source: PipelineSource): RunVariables => ({
    predefined: {
      // A default, which other sources override.
      APP_SERVICE_PORT: DEFAULT_SERVICE_PORT,
      ...predefinedVariables({
        ...options,
        runId: jobTokenId,
        source,
        branch,
        isTag: isTag === true,
        jobToken,
        createdAt: new Date().toISOString().replace(/\.\d+/, ''),
        isProtected: branch === defaultBranch,
      }),
    },
    ofGroup,
    ofProject: files,
    typed,
  });
  return { jobTokenId, secrets, variablesFor };
}

/** Writes the project's variables that are files, and gives them their paths. */
async function createFileVariables(all: readonly JobVariable[], dir: string): Promise<JobVariable[]> {
  return Promise.all(
    all.map(async (variable, index) => {
      if (variable.variable_type !== 'file') return variable;
      const path = join(dir, String(index), variable.key);
      await mkdir(dirname(path));
      await writeFile(path, variable.value, { mode: 0o644 });
      return { ...variable, value: path };
    }),
  );
}

function* linesOnTree({ repository, takesWorkingTree }: PipelineRequest, { sha, submodules, lfsPointers }: Checkout) {
  const count = `${repository.uncommitted} uncommitted ${repository.uncommitted === 1 ? 'change' : 'changes'}`;
  if (takesWorkingTree)
    yield `the working tree of '${repository.branch}' with ${count}, as the temporary commit ${sha.slice(0, 8)}`;
  else if (repository.uncommitted > 0)
    yield `${count} in ${repository.dir} are not part of this run of ${sha.slice(0, 8)}. Commit them, or include them with --working-tree.`;
  if (submodules.length > 0)
    yield `submodules are empty folders, except in jobs that set GIT_SUBMODULE_STRATEGY: ${submodules.join(', ')}`;
  const [first] = lfsPointers;
  if (first !== undefined) {
    const files =
      lfsPointers.length === 1 ? '1 file is a Git LFS pointer' : `${lfsPointers.length} files are Git LFS pointers`;
    yield `${files} without its content: ${first}${lfsPointers.length > 1 ? ', ...' : ''}. Install git-lfs, and run \`git lfs fetch\` in ${repository.dir}.`;
  }
}

/** The commit that the branch has where it is pushed to, or else that of its run before. */
async function commitBefore(
  { dir, branch }: Repository,
  { sha }: Checkout,
  { id }: ScmProjectRecord,
  platform: PlatformCalls,
): Promise<string | undefined> {
  const remote = await commitOf(dir, `refs/remotes/origin/${branch}`);
  if (remote !== undefined && remote !== sha) return remote;
  const all = await platform.ask(deliveryRoutes.listPipelineRuns);
  const runs = all.filter((run) => run.project.id === id && run.branch === branch && !run.isTag);
  // A commit whose pipeline is run again has the one that it had.
  const earlier = runs.slice(runs.findLastIndex((run) => run.sha === sha) + 1);
  return earlier.find((run) => run.sha !== sha)?.sha;
}

/** The open merge request of the branch; created if a pipeline of this source opens one. */
async function mergeRequestFor(
  { request, scm, project, checkout }: Awaited<ReturnType<typeof readSource>>,
  create: (title: string) => Promise<ScmMergeRequestRecord>,
): Promise<ScmMergeRequestRecord | undefined> {
  const { source, repository } = request;
  const { branch, isTag } = repository;
  if (branch === project.default_branch || isTag) {
    if (source !== 'merge_request_event') return undefined;
    throw new PipelineError(
      `'${branch}' is ${isTag ? 'a tag' : 'the default branch'}, but a merge request requires another branch. Create one with \`git switch -c NAME\`.`,
    );
  }
  const isOpened = source === undefined || source === 'merge_request_event';
  const open = await scm.findMergeRequest(project, branch);
  return open ?? (isOpened ? create(checkout.commit.message.split('\n', 1)[0] || branch) : undefined);
}

function planShown(
  { jobs, leftOut, variables }: Pick<ChosenJobs, 'jobs' | 'leftOut' | 'variables'>,
  children: ReadonlyMap<string, ExpectedChild>,
): PlanOfJobs {
  return {
    jobs: jobs.map((job) => {
      const ownVariables = Object.fromEntries(
        Object.entries(job.ownVariables).map(([name, { value }]) => [name, value]),
      );
      const values = valuesOf(variables, job.variables);
      // A name of variables that are not set yet is shown as it is written.
      const expandedText = (name: string) => expandText(name, values) || name;
      const { image, services } = job.definition;
      const child = children.get(job.name);
      return {
        name: job.name,
        stage: job.stage,
        when: job.when,
        decision: job.decision,
        ...(image && { image: expandedText(image.name) }),
        ...(services && services.length > 0 && { services: services.map(({ name }) => expandedText(name)) }),
        ...(job.needs && { needs: job.needs }),
        variables: ownVariables,
        ...(isTrigger(job) && {
          child: !child ? { isGenerated: true } : 'problem' in child ? child : planShown(child, children),
        }),
      };
    }),
    leftOut,
  };
}

/** Names of variables that are not the same for everybody. */
function namesShown({ ofGroup, ofProject, typed, predefined }: RunVariables): string[] {
  const names = ['APP_SERVICE_PORT', 'CI_MERGE_REQUEST_IID'].filter((name) => predefined[name] !== undefined);
  return [
    ...new Set([...names, ...Object.keys(ofGroup), ...ofProject.map(({ key }) => key), ...Object.keys(typed)]),
  ].sort();
}

/** Jobs do not inherit the variables with root's access to the platform. */
function withoutOurs(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TERRARIUM_')));
}
