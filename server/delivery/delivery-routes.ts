import type { Response, Router } from 'express';
import { z } from 'zod';
import { deliveryRows, type ShownScmProject } from '../contract/delivery.ts';
import { eyesOf } from '../http/eyes.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import { scopeOf } from '../model/scope.ts';
import { parseWith } from '../model/validate.ts';
import { pipelineVariables } from './pipeline-projects.ts';
import type { PipelineRuns } from './pipeline-runs.ts';

/** The source-control stand-in, as it is shown. */
export interface ScmInspection {
  /** Where it listens; pages for people are below it. */
  url: string;
  /** What `SCM_API_URL` means. */
  apiUrl: string;
  token: string;
  snapshot(): ShownScmProject[];
  /** Each project with the keys of its variables, oldest first. */
  projects(): { id: number; path: string; url: string; variableKeys: readonly string[] }[];
  /** Sets a variable of a project, or takes it away. Throws 404. */
  setVariable(projectId: string, key: string, value: string): Promise<void>;
  removeVariable(projectId: string, key: string): Promise<void>;
}

const variableKey = z
  .string()
  .regex(/^[A-Za-z_]\w{0,254}$/, 'must be letters, digits and _, not beginning with a digit');

/** Runs pipelines within the platform's own process. */
export interface PipelineStarter {
  /** Begins the sample app's; resolves once it has begun, rejects with what is to be put right. */
  demo(): Promise<{ id: string }>;
  /** Begins one job of an earlier run again, likewise. */
  retry(id: string, job: string): Promise<{ id: string }>;
  /** Cancels a run; false for one that was not begun here. */
  cancel(id: string): boolean;
}

export interface DeliveryOptions {
  scm: ScmInspection;
  runs: PipelineRuns;
  starter: PipelineStarter;
}

/** The source-control stand-in, and what pipelines leave behind. */
export function deliveryRoutes({ scm, runs, starter }: DeliveryOptions, gate: Gate): Router {
  const { view } = gate;
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
      const { url, apiUrl, token } = scm;
      return { url, apiUrl, ...(isRoot && { token }), projects: scm.snapshot() };
    },
    listPipelineProjects: () =>
      scm.projects().map(({ variableKeys, ...project }) => ({
        ...project,
        variables: pipelineVariables(view, variableKeys),
      })),
    setPipelineVariable: ({ path, body }) => scm.setVariable(path.project_id, keyIn(path), body.value),
    removePipelineVariable: ({ path }) => scm.removeVariable(path.project_id, keyIn(path)),
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
