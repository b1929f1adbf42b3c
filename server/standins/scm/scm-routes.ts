import express, { type Request, type Response, type Router } from 'express';
import { sendPage } from './paging.ts';
import { invalidValue, missing, notFound, ScmError } from './scm-error.ts';
import type { ScmProjects } from './scm-projects.ts';
import { optional, queryText, text } from './scm-request.ts';
import { SCM_USER } from './scm-state.ts';
import { scmVariableRoutes } from './scm-variable-routes.ts';
import type { ScmViews } from './scm-views.ts';

/** Answered as the real server's version: what clients ask features by. */
const VERSION = { version: '17.11.0', revision: 'terrarium' };
const STATUSES = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'];

export interface ScmRoutesOptions {
  projects: ScmProjects;
  views: ScmViews;
  baseUrl(): string;
}

/** The part of the API v4 that deployment integrations use, behind `/api/v4`; the caller is authenticated already. */
export function scmRoutes(options: ScmRoutesOptions): Router {
  const { projects, views, baseUrl } = options;
  const router = express.Router({ caseSensitive: true });
  const projectOf = (req: Request) => projects.get(String(req.params.project));
  const list = <T>(req: Request, res: Response, all: readonly T[], shown: (one: T) => object) =>
    sendPage(req, res, all.map(shown), baseUrl());

  router.get('/version', (_req, res) => void res.json(VERSION));
  router.get('/user', (_req, res) => void res.json(views.user(SCM_USER)));

  router.get('/projects', (req, res) => {
    const search = queryText(req, 'search')?.toLowerCase();
    const found = projects
      .all()
      .filter(
        (one) => search === undefined || `${one.namespace}/${one.path} ${one.name}`.toLowerCase().includes(search),
      );
    list(req, res, found.reverse(), (one) => views.project(one));
  });
  router.post('/projects', async (req, res) => {
    const name = text(req, 'name') ?? text(req, 'path');
    if (name === undefined) throw missing('name');
    const namespace = text(req, 'namespace') ?? text(req, 'namespace_path') ?? SCM_USER.username;
    const created = await projects.create({
      name,
      namespace,
      ...optional(req, 'path'),
      ...optional(req, 'description'),
      ...optional(req, 'default_branch'),
    });
    res.status(201).json(views.project(created));
  });
  router.get('/projects/:project', (req, res) => void res.json(views.project(projectOf(req))));

  const mergeRequests = '/projects/:project/merge_requests';
  router.get(mergeRequests, (req, res) => {
    const project = projectOf(req);
    const state = queryText(req, 'state') ?? 'all';
    if (!['all', 'opened', 'closed', 'merged', 'locked'].includes(state)) throw invalidValue('state');
    const found = project.merge_requests.filter(
      (one) =>
        (state === 'all' || one.state === state) &&
        (queryText(req, 'source_branch') ?? one.source_branch) === one.source_branch &&
        (queryText(req, 'target_branch') ?? one.target_branch) === one.target_branch,
    );
    list(req, res, found.reverse(), (one) => views.mergeRequest(project, one));
  });
  router.post(mergeRequests, async (req, res) => {
    const project = projectOf(req);
    const [source_branch, target_branch, title] = ['source_branch', 'target_branch', 'title'].map((name) =>
      text(req, name),
    );
    if (!source_branch || !target_branch || !title) {
      throw missing(...['source_branch', 'target_branch', 'title'].filter((name) => !text(req, name)));
    }
    const description = text(req, 'description') ?? '';
    const created = await projects.createMergeRequest(project, { source_branch, target_branch, title, description });
    res.status(201).json(views.mergeRequest(projectOf(req), created));
  });
  const mergeRequestOf = (req: Request) => {
    const project = projectOf(req);
    return { project, mergeRequest: projects.mergeRequest(project, String(req.params.iid)) };
  };
  router.get(`${mergeRequests}/:iid`, (req, res) => {
    const { project, mergeRequest } = mergeRequestOf(req);
    res.json(views.mergeRequest(project, mergeRequest));
  });
  router.put(`${mergeRequests}/:iid`, async (req, res) => {
    const { project, mergeRequest: found } = mergeRequestOf(req);
    const event = text(req, 'state_event');
    if (event !== undefined && event !== 'close' && event !== 'reopen') throw invalidValue('state_event');
    const state = event === 'close' ? 'closed' : event === 'reopen' ? 'opened' : found.state;
    const changed = {
      ...found,
      state,
      ...optional(req, 'title'),
      ...optional(req, 'description'),
      ...optional(req, 'target_branch'),
    };
    res.json(views.mergeRequest(project, await projects.replaceMergeRequest(project, changed)));
  });
  router.put(`${mergeRequests}/:iid/merge`, async (req, res) => {
    const { project, mergeRequest: found } = mergeRequestOf(req);
    if (found.state !== 'opened') throw new ScmError(405, { message: '405 Method Not Allowed' });
    const merged = await projects.replaceMergeRequest(project, { ...found, state: 'merged' });
    res.json(views.mergeRequest(project, merged));
  });

  const notes = `${mergeRequests}/:iid/notes`;
  router.get(notes, (req, res) => {
    const { project, mergeRequest: found } = mergeRequestOf(req);
    const sorted = queryText(req, 'sort') === 'asc' ? found.notes : [...found.notes].reverse();
    list(req, res, sorted, (one) => views.note(project, found, one));
  });
  router.post(notes, async (req, res) => {
    const { project, mergeRequest: found } = mergeRequestOf(req);
    const body = text(req, 'body');
    if (!body) throw missing('body');
    res.status(201).json(views.note(project, found, await projects.addNote(project, found, body)));
  });
  const noteOf = (req: Request) => {
    const { project, mergeRequest } = mergeRequestOf(req);
    const note = mergeRequest.notes.find(({ id }) => String(id) === req.params.note);
    if (!note) throw notFound('Note');
    return { project, mergeRequest, note };
  };
  router.get(`${notes}/:note`, (req, res) => {
    const { project, mergeRequest, note } = noteOf(req);
    res.json(views.note(project, mergeRequest, note));
  });
  router.put(`${notes}/:note`, async (req, res) => {
    const { project, mergeRequest, note } = noteOf(req);
    const body = text(req, 'body');
    if (!body) throw missing('body');
    const changed = { ...note, body, updated_at: projects.now() };
    const all = mergeRequest.notes.map((one) => (one.id === note.id ? changed : one));
    await projects.replaceMergeRequest(project, { ...mergeRequest, notes: all });
    res.json(views.note(project, mergeRequest, changed));
  });
  router.delete(`${notes}/:note`, async (req, res) => {
    const { project, mergeRequest, note } = noteOf(req);
    const all = mergeRequest.notes.filter(({ id }) => id !== note.id);
    await projects.replaceMergeRequest(project, { ...mergeRequest, notes: all });
    res.status(204).end();
  });

  const environments = '/projects/:project/environments';
  router.get(environments, (req, res) => {
    const [name, search, states] = ['name', 'search', 'states'].map((key) => queryText(req, key));
    const found = projectOf(req).environments.filter(
      (one) =>
        (name === undefined || one.name === name) &&
        (search === undefined || one.name.includes(search)) &&
        (states === undefined || one.state === states),
    );
    list(req, res, found, (one) => views.environment(one));
  });
  router.post(environments, async (req, res) => {
    const name = text(req, 'name');
    if (!name) throw missing('name');
    const created = await projects.createEnvironment(projectOf(req), name, externalUrl(req) ?? null);
    res.status(201).json(views.environment(created));
  });
  const environmentOf = (req: Request) => {
    const project = projectOf(req);
    return { project, environment: projects.environment(project, String(req.params.environment)) };
  };
  router.get(
    `${environments}/:environment`,
    (req, res) => void res.json(views.environment(environmentOf(req).environment)),
  );
  router.put(`${environments}/:environment`, async (req, res) => {
    const { project, environment } = environmentOf(req);
    const url = externalUrl(req);
    const changed = { ...environment, ...(url !== undefined && { external_url: url }) };
    res.json(views.environment(await projects.replaceEnvironment(project, changed)));
  });
  router.post(`${environments}/:environment/stop`, async (req, res) => {
    const { project, environment } = environmentOf(req);
    res.json(views.environment(await projects.replaceEnvironment(project, { ...environment, state: 'stopped' })));
  });
  router.delete(`${environments}/:environment`, async (req, res) => {
    const { project, environment } = environmentOf(req);
    if (environment.state !== 'stopped') throw new ScmError(403, { message: '403 Forbidden' });
    await projects.save({ ...project, environments: project.environments.filter(({ id }) => id !== environment.id) });
    res.status(204).end();
  });

  router.post('/projects/:project/statuses/:sha', async (req, res) => {
    const project = projectOf(req);
    const state = text(req, 'state');
    if (state === undefined) throw missing('state');
    if (!STATUSES.includes(state)) throw invalidValue('state');
    const status = {
      id: projects.nextStatusId(),
      sha: String(req.params.sha),
      ref: text(req, 'ref') ?? null,
      status: state,
      name: text(req, 'name') ?? text(req, 'context') ?? 'default',
      target_url: text(req, 'target_url') ?? null,
      description: text(req, 'description') ?? null,
      created_at: projects.now(),
    };
    // One of each name: a later one tells how it went on.
    const others = project.statuses.filter((one) => one.sha !== status.sha || one.name !== status.name);
    await projects.save({ ...project, statuses: [...others, status] });
    res.status(201).json(views.status(status));
  });
  router.get('/projects/:project/repository/commits/:sha/statuses', (req, res) => {
    const found = projectOf(req).statuses.filter(({ sha }) => sha === req.params.sha);
    list(req, res, found, (one) => views.status(one));
  });

  router.use(scmVariableRoutes({ projects, projectOf, list }));
  return router;
}

function externalUrl(req: Request): string | undefined {
  const url = text(req, 'external_url');
  if (url !== undefined && url !== '' && !/^https?:\/\//i.test(url)) {
    throw new ScmError(400, { message: { external_url: ['is blocked: only allowed schemes are http, https'] } });
  }
  return url;
}
