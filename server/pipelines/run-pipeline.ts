import { createHmac, randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { PIPELINE_VARIABLES, type PipelineStart } from '../model/pipeline-run.ts';
import { type Checkout, makeCheckout } from './checkout.ts';
import { chooseJobs, demandVariables } from './choose-jobs.ts';
import { giveBack } from './give-back.ts';
import { givenValues, placeFiles, type RunVariables } from './job-environment.ts';
import { projectVariables } from './job-variables.ts';
import { noRoom } from './no-room.ts';
import { CANCELED, PipelineError } from './pipeline-error.ts';
import type { PipelineEnd, PipelineRequest, PipelineSurroundings } from './pipeline-request.ts';
import { scmOf } from './platform-calls.ts';
import { predefinedVariables } from './predefined.ts';
import { recordedRun } from './recorded-run.ts';
import type { PipelineSource } from './rules.ts';
import { RunFolder, sweepLeftovers } from './run-folder.ts';
import { sampleBase } from './sample-base.ts';
import { ScmClient, type ScmMergeRequestRecord, type ScmProjectRecord } from './scm-client.ts';
import { DEFAULT_SERVICE_PORT, makePipelineKey, targetIn, targetVariables } from './target.ts';

/**
 * Runs a commit's pipeline against a platform, and keeps the platform's record of it up to date.
 *
 * @throws PipelineError for what keeps it from beginning, as long as it has not begun
 */
export async function runPipeline(asked: PipelineRequest, around: PipelineSurroundings): Promise<PipelineEnd> {
  const { platform, signal } = around;
  await sweepLeftovers((owner) => giveBack(platform, owner));
  const folder = await RunFolder.make(platform.baseUrl).catch((failure) => {
    throw noRoom(failure) ?? failure;
  });
  try {
    return await runOnce(asked, { ...around, env: withoutOurs(around.env) }, folder);
  } catch (failure) {
    // Before it had begun.
    if (signal.aborted) throw new PipelineError('canceled', CANCELED);
    throw noRoom(failure) ?? failure;
  } finally {
    await folder.remove();
  }
}

async function runOnce(asked: PipelineRequest, around: PipelineSurroundings, folder: RunFolder): Promise<PipelineEnd> {
  const { repository, target } = asked;
  const { platform, signal, say } = around;
  const typed = { ...(await variablesOfSample(asked, around)), ...asked.typed };
  const { url: scmUrl, apiUrl, token } = await scmOf(platform);
  const scm = new ScmClient(apiUrl, token);
  const project = await scm.ensureProject(
    asked.project ?? repository.originPath ?? `local/${basename(repository.dir)}`,
  );
  const checkout = await makeCheckout({
    repository,
    to: join(folder.path, 'checkout'),
    takesWorkingTree: asked.takesWorkingTree,
    defaultBranch: project.default_branch,
    originUrl: `${scmUrl}/${project.path_with_namespace}.git`,
    signal,
  });
  for (const line of linesOnTree(asked, checkout)) say(line);
  const mergeRequest = await mergeRequestFor(asked, scm, project, checkout);
  signal.throwIfAborted();
  const key = await makePipelineKey(platform, target.account);
  try {
    await folder.note({ apiKey: key.key });
    const { branch } = repository;
    const ofProject = projectVariables(await scm.variables(project), { branch, defaultBranch: project.default_branch });
    if (ofProject.withheld.length > 0)
      say(`kept for '${project.default_branch}', which is protected: ${ofProject.withheld.join(', ')}`);
    const files = await placeFiles(ofProject.variables, join(folder.path, 'files'));
    const jobTokenId = randomUUID();
    const jobToken = `glcbt-${jobTokenId}-${createHmac('sha256', token).update(jobTokenId).digest('hex').slice(0, 32)}`;
    const secrets = [key.secret, typed.PLATFORM_API_SECRET ?? '', jobToken, ...ofProject.secrets];
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
          runId: jobTokenId,
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
      typed,
    });
    const chosen = await chooseJobs({ asked, around, folder: folder.path, checkout, project, variablesFor });
    const { source, variables } = chosen;
    await demandVariables(checkout, variables);
    if (mergeRequest)
      say(`merge request !${mergeRequest.iid} of ${project.path_with_namespace}: ${mergeRequest.web_url}`);
    const start: Omit<PipelineStart, 'jobs'> = {
      project: { id: project.id, path: project.path_with_namespace },
      branch,
      sha: checkout.sha,
      ...(mergeRequest && { mergeRequest: { iid: mergeRequest.iid, url: mergeRequest.web_url } }),
      variables: { present: namesShown(variables), missing: [] },
      ...targetIn(givenValues(variables), secrets),
      source,
      hasWorkingTree: asked.takesWorkingTree,
      apiKey: key.key,
      jobTokenId,
      ...(asked.isKept && { folder: repository.dir }),
      ...(asked.startedBy !== undefined && { startedBy: asked.startedBy }),
      ...(asked.retryOf !== undefined && { retryOf: asked.retryOf }),
    };
    signal.throwIfAborted();
    const { filesDir } = files;
    return await recordedRun({ asked, around, folder, scm, project, checkout, start, chosen, filesDir, secrets });
  } finally {
    await key.end().catch(() => say("the pipeline's API key could not be revoked"));
  }
}

/** What the sample app's pipeline is given beside what is typed. */
async function variablesOfSample(
  { isKept, only }: PipelineRequest,
  around: PipelineSurroundings,
): Promise<Record<string, string>> {
  const builds = only.length === 0 || only.includes('build');
  return isKept || !builds ? {} : sampleBase(around);
}

/** What one should know of the working tree. */
function* linesOnTree({ repository, takesWorkingTree }: PipelineRequest, { sha, submodules }: Checkout) {
  const count = `${repository.uncommitted} uncommitted ${repository.uncommitted === 1 ? 'change' : 'changes'}`;
  if (takesWorkingTree)
    yield `the working tree of '${repository.branch}' with ${count}, as commit ${sha.slice(0, 8)} of its own`;
  else if (repository.uncommitted > 0)
    yield `${count} in ${repository.dir} are not part of this run of ${sha.slice(0, 8)}: commit, or take them along with --working-tree`;
  if (submodules.length > 0)
    yield `submodules are empty folders, as on a server that is not told to fetch them: ${submodules.join(', ')}`;
}

async function mergeRequestFor(
  { source, repository: { branch } }: PipelineRequest,
  scm: ScmClient,
  project: ScmProjectRecord,
  { commit }: Checkout,
): Promise<ScmMergeRequestRecord | undefined> {
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

/** Names of variables that are not the same for everybody. */
function namesShown({ ofGroup, ofProject, typed, predefined }: RunVariables): string[] {
  const known = Object.keys(PIPELINE_VARIABLES).filter((name) => predefined[name] !== undefined);
  const iid = predefined.CI_MERGE_REQUEST_IID === undefined ? [] : ['CI_MERGE_REQUEST_IID'];
  return [
    ...new Set([...Object.keys(ofGroup), ...ofProject.map(({ key }) => key), ...Object.keys(typed), ...known, ...iid]),
  ].sort();
}

/** Jobs inherit what is left: how we were told to reach the platform, as root, is not for them. */
function withoutOurs(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TERRARIUM_')));
}
