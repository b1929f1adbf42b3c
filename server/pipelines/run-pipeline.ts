import { createHmac, randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { masked } from '../model/masked-text.ts';
import {
  PIPELINE_VARIABLES,
  type PipelineJob,
  type PipelineProgress,
  type PipelineStart,
} from '../model/pipeline-run.ts';
import { folderName, keepArtifacts } from './artifacts.ts';
import { type Checkout, changedFiles, committedFiles, makeCheckout } from './checkout.ts';
import { readDefinition } from './definition.ts';
import { type Deployed, whenItAnswers } from './deployed.ts';
import { EngineCommand } from './engine-command.ts';
import { placeFiles, type RunVariables, winningVariables } from './job-environment.ts';
import { runJob } from './job-execution.ts';
import { projectVariables } from './job-variables.ts';
import { CANCELED, PipelineError } from './pipeline-error.ts';
import { type PlannedJob, planOf } from './plan.ts';
import { jsonBody, type PlatformCalls } from './platform-calls.ts';
import { predefinedVariables } from './predefined.ts';
import type { Repository } from './repository.ts';
import type { PipelineSource, RuleFacts } from './rules.ts';
import { keptFolder, RunFolder, type RunOwner, sweepLeftovers } from './run-folder.ts';
import { RunLog } from './run-log.ts';
import { runJobs } from './schedule.ts';
import { ScmClient, type ScmMergeRequestRecord, type ScmProjectRecord } from './scm-client.ts';
import { askedFor, DEFAULT_SERVICE_PORT, makePipelineKey, targetIn, targetVariables } from './target.ts';
import { asVariables } from './variables.ts';

/** What a run is asked for. */
export interface PipelineWish {
  repository: Repository;
  /** Path of the project in the source-control stand-in; the one that `origin` names unless given. */
  project: string | undefined;
  /** What sets it off; what the server would run for the branch unless given. */
  source: PipelineSource | undefined;
  target: { org: string; environment: string | undefined; api: string | undefined; account: string };
  /** More variables, which win over all others. */
  typed: Readonly<Record<string, string>>;
  /** Run these jobs only, even manual ones; none named: all. */
  only: readonly string[];
  takesWorkingTree: boolean;
  /** Run jobs on this machine that have an image, too. */
  usesShell: boolean;
  /** Wait until the app answers. */
  waits: boolean;
  startedBy?: string | undefined;
  retryOf?: string | undefined;
  /** Is the repository one that stays? */
  isKept: boolean;
}

export interface PipelineSurroundings {
  platform: PlatformCalls;
  /** What jobs inherit. */
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  say(line: string): void;
  onBegin?(run: { id: string }): void;
}

export interface PipelineEnd {
  id: string;
  /** 0 when the app answers; 1 when something failed; 130 when it was cancelled. */
  exitCode: number;
  appUrl: string | undefined;
}

const scmSchema = z.looseObject({ url: z.string(), apiUrl: z.string(), token: z.string() });
const runSchema = z.looseObject({ id: z.string() });
const deploymentsSchema = z.looseObject({
  deployments: z
    .array(
      z.looseObject({
        action: z.string().optional(),
        problem: z.string().optional(),
        container: z.looseObject({ id: z.string() }).optional(),
        published: z.looseObject({ url: z.string() }).optional(),
      }),
    )
    .optional(),
});

/**
 * Runs a commit's pipeline against a platform, and keeps the platform's record of it up to date.
 *
 * @throws PipelineError for what keeps it from beginning, as long as it has not begun
 */
export async function runPipeline(wish: PipelineWish, around: PipelineSurroundings): Promise<PipelineEnd> {
  const { platform, signal } = around;
  await sweepLeftovers((owner) => giveBack(platform, owner));
  const folder = await RunFolder.make(platform.baseUrl);
  try {
    return await new Run(wish, { ...around, env: withoutOurs(around.env) }, folder).go();
  } catch (failure) {
    if (signal.aborted) throw new PipelineCanceled();
    throw failure;
  } finally {
    await folder.remove();
  }
}

/** It was cancelled before it had begun. */
class PipelineCanceled extends Error {
  override readonly name = 'PipelineCanceled';
  readonly exitCode = CANCELED;
  constructor() {
    super('canceled');
  }
}

/** What a killed run has left with the platform: its key, and a record that says that it goes on. */
async function giveBack(platform: PlatformCalls, { baseUrl, apiKey, runId }: RunOwner): Promise<void> {
  if (baseUrl !== platform.baseUrl) return;
  if (apiKey !== undefined) await platform.text('DELETE', `/security/apiKeys/${apiKey}`).catch(() => undefined);
  if (runId === undefined) return;
  const { jobs } = await platform.json(
    'GET',
    `/inspect/pipelines/${runId}`,
    z.looseObject({ jobs: z.array(z.looseObject({ state: z.string() })) }),
  );
  const ended = jobs.map((job) => (['running', 'waiting'].includes(job.state) ? { ...job, state: 'canceled' } : job));
  const log = ['Its runner was killed; what it had left on this machine is removed.'];
  await platform.text(
    'PUT',
    `/inspect/pipelines/${runId}`,
    jsonBody({ state: 'canceled', jobs: ended, log, exitCode: CANCELED }),
  );
}

/** One run under way. */
class Run {
  readonly #wish: PipelineWish;
  readonly #around: PipelineSurroundings;
  readonly #folder: RunFolder;
  /** Names its job token. */
  readonly #tokenId = randomUUID();

  constructor(wish: PipelineWish, around: PipelineSurroundings, folder: RunFolder) {
    this.#wish = wish;
    this.#around = around;
    this.#folder = folder;
  }

  async go(): Promise<PipelineEnd> {
    const { repository, target } = this.#wish;
    const { platform, signal, say } = this.#around;
    const { url: scmUrl, apiUrl, token } = await platform.json('GET', '/inspect/scm', scmSchema);
    const scm = new ScmClient(apiUrl, token);
    const project = await scm.ensureProject(
      this.#wish.project ?? repository.originPath ?? `local/${basename(repository.dir)}`,
    );
    const checkout = await makeCheckout({
      repository,
      to: join(this.#folder.path, 'checkout'),
      takesWorkingTree: this.#wish.takesWorkingTree,
      defaultBranch: project.default_branch,
      originUrl: `${scmUrl}/${project.path_with_namespace}.git`,
      signal,
    });
    this.#tellOfTree(checkout);
    const mergeRequest = await this.#mergeRequest(scm, project, checkout);
    signal.throwIfAborted();
    const key = await makePipelineKey(platform, target.account);
    try {
      await this.#folder.note({ apiKey: key.key });
      const { branch } = repository;
      const ofProject = projectVariables(await scm.variables(project), {
        branch,
        defaultBranch: project.default_branch,
      });
      if (ofProject.withheld.length > 0)
        say(`kept for '${project.default_branch}', which is protected: ${ofProject.withheld.join(', ')}`);
      const files = await placeFiles(ofProject.variables, join(this.#folder.path, 'files'));
      const jobToken = `glcbt-${this.#tokenId}-${createHmac('sha256', token).update(this.#tokenId).digest('hex').slice(0, 32)}`;
      const secrets = [key.secret, this.#wish.typed.PLATFORM_API_SECRET ?? '', jobToken, ...ofProject.secrets];
      const { APP_SERVICE_PORT: _guess, ...place } = await targetVariables(platform, target);
      const ofGroup = {
        ...place,
        PLATFORM_API_KEY: key.key,
        PLATFORM_API_SECRET: key.secret,
        SCM_PROJECT_ID: String(project.id),
        SCM_PROJECT_NAME: project.name,
      };
      const variablesFor = (source: PipelineSource): RunVariables => ({
        predefined: {
          // A guess, which whoever knows better overrides.
          APP_SERVICE_PORT: DEFAULT_SERVICE_PORT,
          ...predefinedVariables({
            runId: this.#tokenId,
            source,
            branch,
            checkout,
            project,
            mergeRequest,
            scmUrl,
            jobToken,
            createdAt: new Date().toISOString().replace(/\.\d+/, ''),
            isProtected: branch === project.default_branch,
          }),
        },
        ofGroup,
        ofProject: files.variables,
        typed: this.#wish.typed,
      });
      const { source, jobs, stages, variables, tracked } = await this.#plan(checkout, project, variablesFor);
      await this.#demandVariables(checkout, variables);
      if (mergeRequest)
        say(`merge request !${mergeRequest.iid} of ${project.path_with_namespace}: ${mergeRequest.web_url}`);
      const present = {
        ...variables.predefined,
        ...Object.fromEntries(
          Object.entries(winningVariables(variables, undefined)).map(([name, { value }]) => [name, value]),
        ),
      };
      const start: Omit<PipelineStart, 'jobs'> = {
        project: { id: project.id, path: project.path_with_namespace },
        branch,
        sha: checkout.sha,
        ...(mergeRequest && { mergeRequest: { iid: mergeRequest.iid, url: mergeRequest.web_url } }),
        variables: { present: this.#namesShown(variables), missing: [] },
        ...targetIn(present, secrets),
        source,
        hasWorkingTree: this.#wish.takesWorkingTree,
        apiKey: key.key,
        jobTokenId: this.#tokenId,
        ...(this.#wish.isKept && { folder: repository.dir }),
        ...(this.#wish.startedBy !== undefined && { startedBy: this.#wish.startedBy }),
        ...(this.#wish.retryOf !== undefined && { retryOf: this.#wish.retryOf }),
      };
      signal.throwIfAborted();
      return await this.#record({
        scm,
        project,
        checkout,
        start,
        jobs,
        stages,
        variables,
        tracked,
        filesDir: files.filesDir,
        secrets,
      });
    } finally {
      await key.end().catch(() => say("the pipeline's API key could not be revoked"));
    }
  }

  #tellOfTree({ sha, submodules }: Checkout): void {
    const { repository, takesWorkingTree } = this.#wish;
    const { say } = this.#around;
    const count = `${repository.uncommitted} uncommitted ${repository.uncommitted === 1 ? 'change' : 'changes'}`;
    if (takesWorkingTree)
      say(`the working tree of '${repository.branch}' with ${count}, as commit ${sha.slice(0, 8)} of its own`);
    else if (repository.uncommitted > 0)
      say(
        `${count} in ${repository.dir} are not part of this run of ${sha.slice(0, 8)}: commit, or take them along with --working-tree`,
      );
    if (submodules.length > 0)
      say(`submodules are empty folders, as on a server that is not told to fetch them: ${submodules.join(', ')}`);
  }

  async #mergeRequest(
    scm: ScmClient,
    project: ScmProjectRecord,
    { commit }: Checkout,
  ): Promise<ScmMergeRequestRecord | undefined> {
    const { branch } = this.#wish.repository;
    const { source } = this.#wish;
    if (branch === project.default_branch) {
      if (source !== 'merge_request_event') return undefined;
      throw new PipelineError(
        `'${branch}' is the default branch, and a merge request comes from another one: make one with \`git switch -c NAME\``,
      );
    }
    return source === undefined || source === 'merge_request_event'
      ? scm.ensureMergeRequest(project, branch, commit.title || branch)
      : scm.findMergeRequest(project, branch);
  }

  /** The jobs that the server would run: those of the merge request if any join its pipeline, or else the branch's. */
  async #plan(checkout: Checkout, project: ScmProjectRecord, variablesFor: (source: PipelineSource) => RunVariables) {
    const { source: wanted, only, repository } = this.#wish;
    const { env, signal, say } = this.#around;
    const usual: PipelineSource[] =
      repository.branch === project.default_branch ? ['push'] : ['merge_request_event', 'push'];
    const sources = wanted ? [wanted] : usual;
    const files = await committedFiles(checkout.dir);
    const changed = await this.#changed(checkout, project);
    const hasIncludes = /^\s*include:/m.test(await readFile(join(checkout.dir, '.gitlab-ci.yml'), 'utf8'));
    let definition: Awaited<ReturnType<typeof readDefinition>> | undefined;
    for (const source of sources) {
      const variables = variablesFor(source);
      const winning = winningVariables(variables, undefined);
      if (!definition || hasIncludes) {
        const given = {
          ...variables.predefined,
          ...Object.fromEntries(Object.entries(winning).map(([name, { value }]) => [name, value])),
        };
        definition = await readDefinition({
          dir: checkout.dir,
          folder: this.#folder.path,
          variables: given,
          env,
          signal,
        });
        await rm(join(checkout.dir, '.git', 'terrarium'), { recursive: true, force: true });
      }
      const facts: RuleFacts = { source, branch: repository.branch, files, changed: () => changed(source) };
      const planned = planOf({ definition, facts, before: asVariables(variables.predefined), after: winning });
      const jobs =
        only.length === 0 ? planned : planned.filter(({ name, base }) => only.includes(name) || only.includes(base));
      const unknown = only.filter((one) => !planned.some(({ name, base }) => one === name || one === base));
      const isLast = source === sources.at(-1);
      if (jobs.length > 0 && unknown.length === 0) {
        if (source !== sources[0])
          say(`no job joins the merge request's pipeline: a pipeline of the branch (push) is run`);
        return { source, jobs, stages: definition.stages, variables, tracked: new Set(files) };
      }
      if (!isLast) continue;
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
  async #changed({ dir, sha, baseSha }: Checkout, project: ScmProjectRecord) {
    const { repository } = this.#wish;
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
  async #demandVariables({ dir }: Checkout, variables: RunVariables): Promise<void> {
    const text = await readFile(join(dir, '.gitlab-ci.yml'), 'utf8');
    const scripts = [...new Set(Array.from(text.matchAll(/[\w./-]+\.(?:sh|bash|js|mjs|py)\b/g), ([name]) => name))];
    const read = (name: string) => readFile(join(dir, name), 'utf8').catch(() => '');
    const all = [text, ...(await Promise.all(scripts.map(read)))].join('\n');
    const winning = winningVariables(variables, undefined);
    const isGiven = (name: string) =>
      Boolean((winning[name] ?? { value: variables.predefined[name] }).value) ||
      new RegExp(`^\\s+${name}:`, 'm').test(text);
    const missing = askedFor(all).filter((name) => !isGiven(name));
    if (missing.length > 0)
      throw new PipelineError(
        `the pipeline asks for ${missing.join(', ')}, and nothing gives a value: use --variable NAME=VALUE`,
      );
  }

  /** Names of variables that are not the same for everybody. */
  #namesShown({ ofGroup, ofProject, typed, predefined }: RunVariables): string[] {
    const known = Object.keys(PIPELINE_VARIABLES).filter((name) => predefined[name] !== undefined);
    const iid = predefined.CI_MERGE_REQUEST_IID === undefined ? [] : ['CI_MERGE_REQUEST_IID'];
    return [
      ...new Set([
        ...Object.keys(ofGroup),
        ...ofProject.map(({ key }) => key),
        ...Object.keys(typed),
        ...known,
        ...iid,
      ]),
    ].sort();
  }

  async #record(options: {
    scm: ScmClient;
    project: ScmProjectRecord;
    checkout: Checkout;
    start: Omit<PipelineStart, 'jobs'>;
    jobs: readonly PlannedJob[];
    stages: readonly string[];
    variables: RunVariables;
    tracked: ReadonlySet<string>;
    filesDir: string | undefined;
    secrets: readonly string[];
  }): Promise<PipelineEnd> {
    const { scm, project, checkout, start, jobs, stages, variables, secrets } = options;
    const { platform, signal, say, env, onBegin } = this.#around;
    const { only, usesShell, repository } = this.#wish;
    const isChosen = ({ name, base }: PlannedJob) => only.includes(name) || only.includes(base);
    const shown = jobs.filter((job) => job.when !== 'manual' || isChosen(job));
    const records: PipelineJob[] = shown.map(({ name, stage }) => ({ name, stage, state: 'waiting' }));
    const { id } = await platform.json('POST', '/inspect/pipelines', runSchema, jsonBody({ ...start, jobs: records }));
    await this.#folder.note({ runId: id });
    onBegin?.({ id });
    const tell = (progress: Partial<PipelineProgress>) =>
      platform.text('PUT', `/inspect/pipelines/${id}`, jsonBody(masked({ state: 'running', ...progress }, secrets)));
    const log = new RunLog({ jobs: records, secrets, say, tell: (news) => tell({ ...news, jobs: [...news.jobs] }) });
    const engine = usesShell
      ? { absence: '--shell was given' }
      : await EngineCommand.find({ env, mark: this.#folder.mark });
    const place = join(keptFolder(), folderName(`${platform.baseUrl} ${project.path_with_namespace}`));
    const artifacts = { runDir: join(this.#folder.path, 'artifacts'), keptDir: join(place, 'artifacts', checkout.sha) };
    let environment: string | undefined;
    try {
      await runJobs({
        jobs,
        stages,
        isChosen,
        isOrdered: only.length === 0,
        maxAtOnce: Math.max(2, availableParallelism()),
        signal,
        onSkip: ({ name, allowFailure }, why) => {
          log.change(name, { state: 'skipped' });
          if (why === 'manual' && allowFailure !== true)
            log.say(`job '${name}' is manual, and what comes after it waits for it: run it with --job '${name}'`);
        },
        run: (job) =>
          runJob(job, {
            folder: this.#folder.path,
            checkoutDir: checkout.dir,
            tracked: options.tracked,
            runId: id,
            projectPath: project.path_with_namespace,
            variables,
            filesDir: options.filesDir,
            engine,
            env: { DOCKER_BUILDKIT: '0', ...env },
            artifacts,
            cacheDir: join(place, 'cache'),
            log,
            signal,
            onPlace: async ({ name, action }, url, isDone) => {
              if (action === 'stop') {
                const found = isDone ? await scm.environment(project, name) : undefined;
                if (found) await scm.stopEnvironment(project, found);
                if (isDone && environment === name) environment = undefined;
              } else if (action === 'start' || action === 'prepare') {
                const one = await scm.ensureEnvironment(project, name);
                environment = name;
                if (isDone && url) await scm.tellUrl(project, one, url);
              }
            },
          }),
      });
      for (const { name, state } of log.jobs) {
        if (signal.aborted && (state === 'waiting' || state === 'running')) log.change(name, { state: 'canceled' });
      }
      const hasFailed = log.jobs.some(({ state, mayFail }) => state === 'failed' && !mayFail);
      const deployed =
        hasFailed || signal.aborted
          ? undefined
          : await this.#deployed(id, { scm, project, environment, deployUrl: start.deployUrl });
      let state: PipelineProgress['state'] = signal.aborted ? 'canceled' : hasFailed ? 'failed' : 'success';
      if (state === 'success' && deployed && this.#wish.waits) {
        log.say(`waiting for the app of '${repository.branch}' to answer`);
        const end = await whenItAnswers(platform, deployed, { signal, tell: (text) => log.say(text) }).catch(
          (failure) => {
            return { isUp: false as const, reason: failure instanceof Error ? failure.message : String(failure) };
          },
        );
        if (signal.aborted) state = 'canceled';
        else if (!end.isUp) {
          state = 'failed';
          log.say(`the app of '${repository.branch}' is not up: ${end.reason}`);
        }
      }
      const exitCode = state === 'success' ? 0 : state === 'canceled' ? CANCELED : 1;
      const appUrl = state === 'success' ? deployed?.url : undefined;
      await keepArtifacts(artifacts).catch(() => undefined); // only retries of single jobs miss them
      await log.flush();
      await tell({ state, jobs: log.jobs, exitCode, ...(appUrl !== undefined && { appUrl }) });
      await this.#tellStatuses(scm, project, checkout.sha, log.jobs);
      return { id, exitCode, appUrl };
    } finally {
      log.end();
    }
  }

  /** What the run has deployed last; undefined when that was nothing, or it was taken away. */
  async #deployed(
    id: string,
    about: {
      scm: ScmClient;
      project: ScmProjectRecord;
      environment: string | undefined;
      deployUrl: string | undefined;
    },
  ): Promise<Deployed | undefined> {
    const { scm, project, environment, deployUrl } = about;
    const gateway = deployUrl === undefined ? undefined : new URL(deployUrl).origin;
    const { deployments = [] } = await this.#around.platform.json('GET', `/inspect/pipelines/${id}`, deploymentsSchema);
    const last = deployments.findLast(({ problem }) => problem === undefined);
    if (last?.action === 'stop') return undefined;
    if (last) return { containerId: last.container?.id, url: last.published?.url };
    // Through an endpoint of somebody's own: the environment may say where the app is.
    const found = environment === undefined ? undefined : await scm.environment(project, environment);
    if (!found?.external_url || !URL.canParse(found.external_url)) return undefined;
    // What is not behind the gateway is not ours to wait for.
    return new URL(found.external_url).origin === gateway
      ? { containerId: undefined, url: found.external_url }
      : undefined;
  }

  /** As a pipeline's server does: how each job of the commit ended. */
  async #tellStatuses(
    scm: ScmClient,
    project: ScmProjectRecord,
    sha: string,
    jobs: readonly PipelineJob[],
  ): Promise<void> {
    for (const { name, state } of jobs) {
      if (state === 'waiting' || state === 'running') continue;
      await scm.setStatus(project, sha, { ref: this.#wish.repository.branch, name, state });
    }
  }
}

/** Jobs inherit what is left: how we were told to reach the platform, as root, is not for them. */
function withoutOurs(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TERRARIUM_')));
}
