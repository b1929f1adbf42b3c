import express, { type Request, type Response, type Router } from 'express';
import { z } from 'zod';
import { queryOf, singleParameter } from '../http/query.ts';
import { readJson } from '../http/read-body.ts';
import { PlatformError } from '../model/errors.ts';
import { pipelineProgress, pipelineStart } from '../model/pipeline-run.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldView } from '../model/world-view.ts';
import type { WorldGuard } from './history-routes.ts';
import { pipelineVariables } from './pipeline-projects.ts';
import type { PipelineRuns } from './pipeline-runs.ts';
import { scopeOf } from './scope.ts';

/** The source-control stand-in, as it is shown. */
export interface ScmInspection {
  /** Where it listens; pages for people are below it. */
  url: string;
  /** What `SCM_API_URL` means. */
  apiUrl: string;
  token: string;
  snapshot(): object[];
  /** Each project with the keys of its variables, oldest first. */
  projects(): { id: number; path: string; url: string; variableKeys: readonly string[] }[];
  /** Sets a variable of a project, or takes it away. Throws 404. */
  setVariable(projectId: string, key: string, value: string): Promise<void>;
  removeVariable(projectId: string, key: string): Promise<void>;
}

const MAX_VALUE_CHARACTERS = 10_000;
const variableWish = z.strictObject({ value: z.string().min(1).max(MAX_VALUE_CHARACTERS) });
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

/**
 * What pipelines leave behind, below `/inspect`:
 *
 * - `GET /scm`: `{url, apiUrl, projects, token?}`, the source-control stand-in with all it keeps; the token for root only.
 * - `GET /scm/projects`: each with the variables of its pipelines, present or missing; no values.
 * - `PUT /scm/projects/{id}/variables/{key}` `{value}`, `DELETE` 204: sets a variable of a project. Root only.
 * - `GET /pipelines?scope=`, `GET /pipelines/{id}`: runs, newest first, one with its log.
 * - `POST /pipelines/demo` 202: the sample app's pipeline has begun; 409 with the reason when it cannot. Root only.
 * - `POST /pipelines/{id}/jobs/{name}/retry` 202: one job of an ended run is run again, as a run of its own; likewise.
 * - `POST /pipelines/{id}/stop` 202: that one is being stopped; 409 for one that the platform has not begun. Root only.
 * - `POST /pipelines` 201, `PUT /pipelines/{id}`: a runner begins a run, and tells how it goes on. Root only.
 */
export function deliveryRoutes(
  scm: ScmInspection,
  runs: PipelineRuns,
  guard: WorldGuard,
  view: WorldView,
  starter: PipelineStarter,
): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/scm', (req, res) => {
    const { isRoot } = guard.viewer(req);
    const { url, apiUrl, token } = scm;
    res.json({ url, apiUrl, ...(isRoot && { token }), projects: scm.snapshot() });
  });
  const shownProject = ({ variableKeys, ...project }: ReturnType<ScmInspection['projects']>[number]) => ({
    ...project,
    variables: pipelineVariables(view, variableKeys),
  });
  router.get('/scm/projects', (req, res) => {
    guard.viewer(req);
    res.json(scm.projects().map(shownProject));
  });
  const variableOf = (req: Request) =>
    [String(req.params.project), parseWith(variableKey, req.params.key, '')] as const;
  router.put('/scm/projects/:project/variables/:key', async (req, res) => {
    guard.root(req);
    const [project, key] = variableOf(req);
    const { value } = parseWith(variableWish, await readJson(req), '');
    await scm.setVariable(project, key, value);
    res.status(204).end();
  });
  router.delete('/scm/projects/:project/variables/:key', async (req, res) => {
    guard.root(req);
    await scm.removeVariable(...variableOf(req));
    res.status(204).end();
  });
  router.get('/pipelines', (req, res) => {
    guard.viewer(req);
    res.json(runs.list(scopeOf(view, singleParameter(queryOf(req), 'scope'))));
  });
  router.get('/pipelines/:id', (req, res) => {
    guard.viewer(req);
    res.json(runs.get(req.params.id));
  });
  /** Answers with a run that has begun, or 409 with what keeps it from that. */
  const answerBegun = async (res: Response, what: string, begin: () => Promise<{ id: string }>) => {
    const { id } = await begin().catch((failure: unknown) => {
      throw new PlatformError(409, `${what} could not run: ${failure instanceof Error ? failure.message : failure}`);
    });
    const { log: _log, ...begun } = runs.get(id);
    res.status(202).location(`/inspect/pipelines/${id}`).json(begun);
  };
  router.post('/pipelines/demo', async (req, res) => {
    guard.root(req);
    await answerBegun(res, 'the demo pipeline', () => starter.demo());
  });
  router.post('/pipelines/:id/jobs/:job/retry', async (req, res) => {
    guard.root(req);
    const { id, jobs } = runs.get(req.params.id);
    const { job } = req.params;
    if (!jobs.some(({ name }) => name === job)) throw new PlatformError(404, `run ${id} has no job '${job}'`);
    await answerBegun(res, `job '${job}'`, () => starter.retry(id, job));
  });
  router.post('/pipelines/:id/stop', (req, res) => {
    guard.root(req);
    const { id, state } = runs.get(req.params.id);
    if (!starter.cancel(id)) {
      const why = state === 'running' ? 'a command began it: stop it there' : `it is ${state}`;
      throw new PlatformError(409, `pipeline run ${id} cannot be stopped here: ${why}`);
    }
    res.status(202).json({ id });
  });
  router.post('/pipelines', async (req, res) => {
    guard.root(req);
    const run = await runs.begin(parseWith(pipelineStart, await readJson(req), ''));
    res.status(201).location(`/inspect/pipelines/${run.id}`).json(run);
  });
  router.put('/pipelines/:id', async (req, res) => {
    guard.root(req);
    const { log: _log, ...run } = await runs.progress(
      req.params.id,
      parseWith(pipelineProgress, await readJson(req), ''),
    );
    res.json(run);
  });
  return router;
}
