import type { Response, Router } from 'express';
import { z } from 'zod';
import { deliveryRows } from '../contract/delivery.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import { scopeOf } from '../model/scope.ts';
import { parseWith } from '../model/validate.ts';
import type { PipelineService } from '../pipelines/pipeline-service.ts';
import type { ScmStandIn } from '../standins/scm/scm-stand-in.ts';
import { pathWithNamespace, type ScmVariable } from '../standins/scm/scm-state.ts';
import { offenceOf, withVariable } from '../standins/scm/scm-variables.ts';
import { pipelineVariables } from './pipeline-projects.ts';
import type { PipelineRuns } from './pipeline-runs.ts';

const variableKey = z
  .string()
  .regex(/^[A-Za-z_]\w{0,254}$/, 'must be letters, digits and _, not beginning with a digit');

export interface DeliveryOptions {
  scm: ScmStandIn;
  /** What opens it. */
  scmToken: string;
  runs: PipelineRuns;
  starter: PipelineService;
}

/** The source-control stand-in, and what pipelines leave behind. */
export function deliveryRoutes({ scm, scmToken: token, runs, starter }: DeliveryOptions, gate: Gate): Router {
  const { view } = gate;
  const { projects } = scm;
  const change = async (id: string, variables: (of: readonly ScmVariable[]) => ScmVariable[]) => {
    const project = projects.all().find((one) => String(one.id) === id);
    if (!project) throw new PlatformError(404, `the source-control stand-in has no project ${id.slice(0, 64)}`);
    const changed = variables(project.variables);
    const [offence] = changed.filter((one) => !project.variables.includes(one)).flatMap((one) => offenceOf(one) ?? []);
    if (offence) throw new PlatformError(400, `${offence.member} ${offence.reason}`);
    await projects.save({ ...project, variables: changed });
  };
  /** A run that has begun, or 409 with what keeps it from that. */
  const begun = async (res: Response, what: string, begin: () => Promise<{ id: string }>) => {
    const { id } = await begin().catch((failure: unknown) => {
      throw new PlatformError(409, `${what} could not run: ${failure instanceof Error ? failure.message : failure}`);
    });
    const { log: _log, ...run } = runs.get(id);
    res.location(addressOf(run));
    return run;
  };
  return serve(deliveryRows, gate, {
    readScm({ caller: { isRoot } }) {
      const { url, apiUrl } = scm;
      return { url, apiUrl, ...(isRoot && { token }), projects: scm.snapshot() };
    },
    listPipelineProjects: () =>
      projects.all().map((project) => {
        const path = pathWithNamespace(project);
        const keys = [...new Set(project.variables.map(({ key }) => key))];
        return { id: project.id, path, url: `${scm.url}/${path}`, variables: pipelineVariables(view, keys) };
      }),
    setPipelineVariable({ path, body }) {
      const key = keyIn(path);
      return change(path.project_id, (present) => withVariable(present, key, body.value));
    },
    removePipelineVariable({ path }) {
      const key = keyIn(path);
      return change(path.project_id, (present) => present.filter((one) => one.key !== key));
    },
    listPipelineRuns({ caller, query }) {
      const [isIn, { sees }] = [scopeOf(view, query.scope), eyesOf(gate, caller)];
      return runs.list((environmentId) => isIn(environmentId) && sees(environmentId));
    },
    readPipelineRun({ caller, path }) {
      const run = runs.get(path.pipeline_id);
      if (eyesOf(gate, caller).sees(run.targetEnvironmentId)) return run;
      throw new PlatformError(404, `the environment of pipeline run ${run.id} is not yours to view`);
    },
    runDemoPipeline: ({ res }) => begun(res, 'the demo pipeline', () => starter.demo()),
    retryPipelineJob({ path, res }) {
      const { id, jobs } = runs.get(path.pipeline_id);
      const job = path.job_name;
      if (!jobs.some(({ name }) => name === job)) throw new PlatformError(404, `run ${id} has no job '${job}'`);
      return begun(res, `job '${job}'`, () => starter.retry(id, job));
    },
    stopPipelineRun({ path }) {
      const { id, state } = runs.get(path.pipeline_id);
      if (state !== 'running' || !starter.cancel(id)) {
        const why = state === 'running' ? 'a command began it: stop it there' : `it is ${state}`;
        throw new PlatformError(409, `pipeline run ${id} cannot be stopped here: ${why}`);
      }
      return { id };
    },
    async beginPipelineRun({ body, res }) {
      const run = await runs.begin(body);
      res.location(addressOf(run));
      return run;
    },
    async tellPipelineRun({ path, body }) {
      const { log: _log, ...run } = await runs.progress(path.pipeline_id, body);
      return run;
    },
  });
}

function addressOf({ id }: { id: string }): string {
  return `/inspect/pipelines/${id}`;
}

/** Throws 400. */
function keyIn({ variable_key }: { variable_key: string }): string {
  return parseWith(variableKey, variable_key, '');
}
