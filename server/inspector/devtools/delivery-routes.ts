import type { Response, Router } from 'express';
import { z } from 'zod';
import { deliveryRoutes, type PipelineVariable } from '../../api/routes/delivery.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import type { MockScm } from '../../mocks/scm/mock-scm.ts';
import { groupPathsOf, pathWithNamespace, type ScmProject, type ScmVariable } from '../../mocks/scm/scm-state.ts';
import { violationIn, withVariable } from '../../mocks/scm/scm-variables.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import { PIPELINE_VARIABLES } from '../../model/pipeline-run.ts';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { scopeOf } from '../../model/rules/hierarchy.ts';
import { parseWith } from '../../model/rules/validate.ts';
import type { PipelineService } from '../../runtimes/pipelines/pipeline-service.ts';
import type { PipelineRuns } from './pipeline-runs.ts';

/** Defaults of `terrarium pipeline` for the organization and the account. */
const ORG = 'demo';
const ACCOUNT = 'ci-service';
const DEPLOY_PATH = '/deploy';

/**
 * The specification's variables of a pipeline, and what gives each; other ones come after them.
 *
 * @param owners the project's groups, then the project
 */
function pipelineVariables(
  view: WorldView,
  owners: readonly { variables: readonly { key: string }[] }[],
): PipelineVariable[] {
  const reasons = missingReasons(view);
  const sources = new Map<string, 'project' | 'group'>();
  for (const owner of owners)
    for (const { key } of owner.variables) sources.set(key, owner === owners.at(-1) ? 'project' : 'group');
  const platformVariables = Object.entries(PIPELINE_VARIABLES).map(([name, description]): PipelineVariable => {
    const from = sources.get(name);
    if (from) return { name, about: description, from };
    const missing = reasons.get(name);
    if (missing !== undefined) return { name, about: description, missing };
    return { name, about: description, from: /_KEY$|_SECRET$/.test(name) ? 'run' : 'platform' };
  });
  const otherSources = [...sources].filter(([key]) => !(key in PIPELINE_VARIABLES));
  return [...platformVariables, ...otherSources.map(([name, from]) => ({ name, about: `of this ${from}`, from }))];
}

function missingReasons(view: WorldView): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  if (view.named('users', ACCOUNT).length === 0) {
    const reason = `user '${ACCOUNT}' does not exist. Create it, or select another one with --account.`;
    for (const name of ['PLATFORM_API_KEY', 'PLATFORM_API_SECRET']) reasons.set(name, reason);
  }
  const [org] = view.named('orgs', ORG, view.root.id);
  if (!org) {
    const reason = `organization '${ORG}' does not exist. Select another one with --org.`;
    for (const name of ['DEPLOY_URL', 'TARGET_ORG_NAME', 'TARGET_ENV_UUID', 'TARGET_API_UUID'])
      reasons.set(`PLATFORM_${name}`, reason);
    return reasons;
  }
  if (!findDeployEndpoint(view, org)) {
    const where = `in '${ORG}' or an organization above it`;
    const reason = `no endpoint is published at ${DEPLOY_PATH} ${where}. Publish a deployment lambda there.`;
    reasons.set('PLATFORM_DEPLOY_URL', reason);
  }
  const apis = view.ownedBy(org.id, 'apis');
  const isTarget = ({ id, properties }: { id: string; properties: Readonly<Record<string, unknown>> }) =>
    properties.environment_type === 'development' && apis.some(({ parent }) => parent === id);
  if (!view.ownedBy(org.id, 'environments').some(isTarget)) {
    const reason = `no development environment of '${ORG}' has an API. Create one, or select one with --environment and --api.`;
    for (const name of ['ENV_UUID', 'API_UUID']) reasons.set(`PLATFORM_TARGET_${name}`, reason);
  }
  return reasons;
}

/** The deployment endpoint of an organization, or of the nearest one above it (D-194). */
function findDeployEndpoint(view: WorldView, org: StoredResource | undefined): StoredResource | undefined {
  if (!org) return undefined;
  const found = view.ownedBy(org.id, 'apiendpoints').find(({ properties }) => properties.resource === DEPLOY_PATH);
  return found ?? findDeployEndpoint(view, view.find(org.parent ?? ''));
}

const variableKey = z
  .string()
  .regex(/^[A-Za-z_]\w{0,254}$/, 'must be letters, digits and _, and not begin with a digit');

export interface DeliveryOptions {
  scm: MockScm;
  scmToken: string;
  runs: PipelineRuns;
  starter: PipelineService;
}

export function deliveryRouter({ scm, scmToken: token, runs, starter }: DeliveryOptions, guard: RouteGuard): Router {
  const { view } = guard;
  const { projects } = scm;
  /** A run that has started, or a 409 with the reason. */
  const beginRun = async (res: Response, subject: string, begin: () => Promise<{ id: string }>) => {
    const { id } = await begin().catch((failure: unknown) => {
      throw new PlatformError('operation_failed', `${subject} could not run: ${reasonOf(failure)}`);
    });
    const { log: _log, ...run } = runs.get(id);
    res.location(`/inspect/pipelines/${run.id}`);
    return run;
  };
  /** Throws 400, 404. @param variablesFor returns the new variables of the project */
  const changeVariables = async (
    { project_id: id, variable_key }: { project_id: string; variable_key: string },
    variablesFor: (project: ScmProject, key: string) => ScmVariable[],
  ): Promise<void> => {
    const key = parseWith(variableKey, variable_key, '');
    const project = projects.all().find((candidate) => String(candidate.id) === id);
    if (!project) throw new PlatformError('not_found', `the mock GitLab has no project ${id.slice(0, 64)}`);
    const variables = variablesFor(project, key);
    const [violation] = variables
      .filter((variable) => !project.variables.includes(variable))
      .flatMap((variable) => violationIn(variable) ?? []);
    if (violation) throw new PlatformError('invalid_body', `${violation.member} ${violation.reason}`);
    await projects.save({ ...project, variables });
  };
  return mountRoutes(deliveryRoutes, guard, {
    readScm({ caller: { isRoot } }) {
      const { url, apiUrl } = scm;
      return { url, apiUrl, ...(isRoot && { token }), projects: scm.snapshot() };
    },
    listPipelineProjects: () =>
      projects.all().map((project) => {
        const path = pathWithNamespace(project);
        const groups = groupPathsOf(project.namespace).map((group) => projects.group(group));
        return {
          id: project.id,
          path,
          url: `${scm.url}/${path}`,
          variables: pipelineVariables(view, [...groups, project]),
        };
      }),
    setPipelineVariable: ({ path, body }) =>
      changeVariables(path, ({ variables }, key) => withVariable(variables, key, body.value)),
    removePipelineVariable: ({ path }) =>
      changeVariables(path, ({ variables }, key) => variables.filter((variable) => variable.key !== key)),
    listPipelineRuns({ caller, query }) {
      const [isIn, { sees }] = [scopeOf(view, query.scope), visibilityFor(guard, caller)];
      return runs.list((environmentId) => isIn(environmentId) && sees(environmentId));
    },
    readPipelineRun({ caller, path }) {
      const run = runs.get(path.pipeline_id);
      if (visibilityFor(guard, caller).sees(run.targetEnvironmentId)) return run;
      throw new PlatformError(
        'not_found',
        `you do not have permission to view the environment of pipeline run ${run.id}`,
      );
    },
    runDemoPipeline: ({ res }) => beginRun(res, 'the demo pipeline', () => starter.demo()),
    retryPipelineJob({ path, res }) {
      const { id, jobs } = runs.get(path.pipeline_id);
      const job = path.job_name;
      if (!jobs.some(({ name }) => name === job)) throw new PlatformError('not_found', `run ${id} has no job '${job}'`);
      return beginRun(res, `job '${job}'`, () => starter.retry(id, job));
    },
    stopPipelineRun({ path }) {
      const { id, state } = runs.get(path.pipeline_id);
      if (state !== 'running' || !starter.cancel(id)) {
        const why = state === 'running' ? 'it was started by a command. Stop that command.' : `it is ${state}`;
        throw new PlatformError('invalid_state', `pipeline run ${id} cannot be stopped here: ${why}`);
      }
      return { id };
    },
    async beginPipelineRun({ body, res }) {
      const run = await runs.begin(body);
      res.location(`/inspect/pipelines/${run.id}`);
      return run;
    },
    async tellPipelineRun({ path, body }) {
      const { log: _log, ...run } = await runs.progress(path.pipeline_id, body);
      return run;
    },
  });
}
