import express, { type Router } from 'express';
import { readJson } from '../http/read-body.ts';
import { pipelineProgress, pipelineStart } from '../model/pipeline-run.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldGuard } from './history-routes.ts';
import type { PipelineRuns } from './pipeline-runs.ts';

/** The source-control stand-in, as it is shown. */
export interface ScmInspection {
  /** Where it listens; pages for people are below it. */
  url: string;
  /** What `SCM_API_URL` means. */
  apiUrl: string;
  token: string;
  snapshot(): object[];
}

/**
 * What pipelines leave behind, below `/inspect`:
 *
 * - `GET /scm`: `{url, apiUrl, projects, token?}`, the source-control stand-in with all it keeps; the token for root only.
 * - `GET /pipelines`, `GET /pipelines/{id}`: runs, newest first, one with its log.
 * - `POST /pipelines` 201, `PUT /pipelines/{id}`: a runner begins a run, and tells how it goes on. Root only.
 */
export function deliveryRoutes(scm: ScmInspection, runs: PipelineRuns, guard: WorldGuard): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/scm', (req, res) => {
    const { isRoot } = guard.viewer(req);
    const { url, apiUrl, token } = scm;
    res.json({ url, apiUrl, ...(isRoot && { token }), projects: scm.snapshot() });
  });
  router.get('/pipelines', (req, res) => {
    guard.viewer(req);
    res.json(runs.list());
  });
  router.get('/pipelines/:id', (req, res) => {
    guard.viewer(req);
    res.json(runs.get(req.params.id));
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
