import express, { type Router } from 'express';
import { applyPush } from './apply-push.ts';
import { conflict, invalidValue, missing, notFound, ScmError } from './scm-error.ts';
import { deploymentRoutes, hookRoutes, peopleRoutes, tokenRoutes } from './scm-more-routes.ts';
import { pipelineRoutes } from './scm-pipeline-routes.ts';
import { replaced } from './scm-projects.ts';
import { NO_COMMIT } from './scm-repositories.ts';
import { diffsIn, repositoryRoutes } from './scm-repository-routes.ts';
import { type Routes, type ScmParts, ScmRequest, sendPage } from './scm-request.ts';
import { SCM_USER, type ScmEnvironment, type ScmVariable } from './scm-state.ts';
import { newVariable, violationIn } from './scm-variables.ts';
import { isNewestStatus } from './scm-views.ts';

/** Version of the real server in responses, by which clients detect features. */
const VERSION = { version: '17.11.0', revision: 'terrarium' };
const STATUSES = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'];
const STATES = ['all', 'opened', 'closed', 'merged', 'locked'];
/** Names in express, and statuses of responses. */
const METHODS = { GET: ['get', 200], POST: ['post', 201], PUT: ['put', 200], DELETE: ['delete', 204] } as const;
type Method = keyof typeof METHODS;

const MERGE_REQUESTS = '/projects/:project/merge_requests';
const NOTES = `${MERGE_REQUESTS}/:iid/notes`;
const ENVIRONMENTS = '/projects/:project/environments';

/** The part of the API v4 that deployment integrations use, below `/api/v4`; the caller is already authenticated. */
export function scmRouter(parts: ScmParts): Router {
  const { projects, views } = parts;
  const router = express.Router({ caseSensitive: true });
  const routes: Routes = {
    ...projectRoutes(parts),
    ...mergeRequestRoutes(parts),
    ...mergeRequestContentRoutes(parts),
    ...noteRoutes(parts),
    ...environmentRoutes(parts),
    ...statusRoutes(parts),
    ...groupRoutes(parts),
    ...repositoryRoutes(parts),
    ...pipelineRoutes(parts),
    ...deploymentRoutes(parts),
    ...hookRoutes(parts),
    ...tokenRoutes(parts),
    ...peopleRoutes(parts),
    ...variableRoutes('/projects/:project/variables', 'project', (project) => projects.save(project)),
    ...variableRoutes('/groups/:group/variables', 'group', (group) => projects.saveGroup(group)),
  };
  for (const [route, handle] of Object.entries(routes)) {
    const [method, path = ''] = route.split(' ') as [Method, string]; // as all are written
    const [verb, usual] = METHODS[method];
    const status = path.endsWith('/stop') ? 200 : route === 'DELETE /projects/:project' ? 202 : usual;
    router.route(path)[verb](async (req, res) => {
      const answer = await handle(new ScmRequest(req, projects));
      if (status === 204) res.status(status).end();
      else if (typeof answer === 'function') answer(res);
      else if (Array.isArray(answer)) sendPage(req, res, answer, views.baseUrl());
      else res.status(status).json(answer);
    });
  }
  router.use((req) => {
    const call = `${req.method} ${req.path}`;
    const supportedCalls =
      'projects, groups, variables, branches, tags, commits, files, merge requests, pipelines, jobs, environments, deployments, webhooks and tokens';
    throw new ScmError(501, {
      message: `501 Not Implemented: the mock GitLab does not have ${call}. It has the usual calls for ${supportedCalls}.`,
    });
  });
  return router;
}

function projectRoutes({ projects, views, repositories }: ScmParts): Routes {
  return {
    'GET /version': () => VERSION,
    'GET /metadata': () => ({
      ...VERSION,
      kas: { enabled: false, externalUrl: null, version: null },
      enterprise: false,
    }),
    'GET /user': () => views.user(SCM_USER),
    'GET /projects'(request) {
      const search = request.text('search')?.toLowerCase() ?? '';
      const wordsOf = ({ namespace, path, name }: { namespace: string; path: string; name: string }) =>
        `${namespace}/${path} ${name}`.toLowerCase();
      const found = projects.all().filter((candidate) => wordsOf(candidate).includes(search));
      return found.reverse().map((project) => views.project(project));
    },
    async 'POST /projects'(request) {
      const name = request.text('name') ?? request.text('path');
      if (name === undefined) throw missing('name');
      const namespace = request.text('namespace') ?? request.text('namespace_path') ?? SCM_USER.username;
      const more = request.optional('path', 'description', 'default_branch');
      return views.project(await projects.create({ name, namespace, ...more }));
    },
    'GET /projects/:project': ({ project }) => views.project(project),
    async 'PUT /projects/:project'(request) {
      const { project } = request;
      const changes = request.optional('name', 'description', 'default_branch');
      if (changes.default_branch !== undefined && changes.default_branch !== project.default_branch)
        await repositories.text(project, 'symbolic-ref', 'HEAD', `refs/heads/${changes.default_branch}`);
      return views.project(await projects.save({ ...request.project, ...changes }));
    },
    async 'DELETE /projects/:project'({ project }) {
      await projects.remove(project);
      await repositories.remove(project);
      return { message: '202 Accepted' };
    },
  };
}

/** Both ends of a merge request as commits. Throws 404 if a branch is not in the repository. */
async function endsOf(
  { project, mergeRequest: { source_branch, target_branch } }: ScmRequest,
  { repositories }: ScmParts,
) {
  return {
    source: await repositories.shaOf(project, `refs/heads/${source_branch}`),
    target: await repositories.shaOf(project, `refs/heads/${target_branch}`),
  };
}

/** Merges the source branch in the repository; undefined if one of the branches is not there. Throws 406 for conflicts. */
async function merged(request: ScmRequest, parts: ScmParts): Promise<string | undefined> {
  const { repositories } = parts;
  const { project, mergeRequest } = request;
  const ends = await endsOf(request, parts).catch(() => undefined);
  if (!ends) return undefined;
  const { source, target } = ends;
  const tree = await repositories.text(project, 'merge-tree', '--write-tree', target, source).catch(() => {
    throw new ScmError(406, { message: 'Branch cannot be merged' });
  });
  const { source_branch: from, target_branch: into, title } = mergeRequest;
  const message = request.text('merge_commit_message') ?? `Merge branch '${from}' into '${into}'\n\n${title}`;
  const identity = ['-c', `user.name=${SCM_USER.name}`, '-c', 'user.email=terrarium@terrarium.invalid'];
  const commit = ['commit-tree', tree, '-p', target, '-p', source, '-m', message];
  const after = await repositories.text(project, ...identity, ...commit);
  const ref = `refs/heads/${into}`;
  await repositories.move(project, ref, target, after);
  const refs = [{ ref, before: target, after }];
  if (request.flag('should_remove_source_branch') ?? mergeRequest.force_remove_source_branch) {
    await repositories.move(project, `refs/heads/${from}`, source, NO_COMMIT);
    refs.push({ ref: `refs/heads/${from}`, before: source, after: NO_COMMIT });
  }
  await applyPush(parts, project, { refs, options: [] });
  return after;
}

function mergeRequestRoutes(parts: ScmParts): Routes {
  const { projects, views } = parts;
  return {
    [`GET ${MERGE_REQUESTS}`](request) {
      const { project } = request;
      const state = request.text('state') ?? 'all';
      if (!STATES.includes(state)) throw invalidValue('state');
      const labels = request.names('labels') ?? [];
      const found = project.merge_requests.filter(
        (mergeRequest) =>
          (state === 'all' || mergeRequest.state === state) &&
          labels.every((label) => mergeRequest.labels?.includes(label)) &&
          request.isAsked('source_branch', mergeRequest.source_branch) &&
          request.isAsked('target_branch', mergeRequest.target_branch),
      );
      return found.reverse().map((mergeRequest) => views.mergeRequest(project, mergeRequest));
    },
    async [`POST ${MERGE_REQUESTS}`](request) {
      const { project } = request;
      const members = request.required('source_branch', 'target_branch', 'title');
      const description = request.text('description') ?? '';
      const labels = request.names('labels') ?? [];
      const created = await projects.createMergeRequest(project, { ...members, description, labels });
      return views.mergeRequest(request.project, created);
    },
    [`GET ${MERGE_REQUESTS}/:iid`]: ({ project, mergeRequest }) => views.mergeRequest(project, mergeRequest),
    async [`PUT ${MERGE_REQUESTS}/:iid`](request) {
      const { project, mergeRequest: found } = request;
      const event = request.text('state_event');
      if (event !== undefined && event !== 'close' && event !== 'reopen') throw invalidValue('state_event');
      const state = event === 'close' ? 'closed' : event === 'reopen' ? 'opened' : found.state;
      const labels = [...(request.names('labels') ?? found.labels ?? []), ...(request.names('add_labels') ?? [])];
      const removed = request.names('remove_labels') ?? [];
      const changed = {
        ...found,
        state,
        ...request.optional('title', 'description', 'target_branch'),
        labels: [...new Set(labels)].filter((label) => !removed.includes(label)),
      };
      return views.mergeRequest(project, await projects.replaceMergeRequest(project, changed));
    },
    async [`PUT ${MERGE_REQUESTS}/:iid/merge`](request) {
      if (request.mergeRequest.state !== 'opened') throw new ScmError(405, { message: '405 Method Not Allowed' });
      const merge_commit_sha = (await merged(request, parts)) ?? null;
      const { project, mergeRequest: found } = request;
      const done = await projects.replaceMergeRequest(project, { ...found, state: 'merged' });
      return { ...views.mergeRequest(project, done), merge_commit_sha };
    },
    [`DELETE ${MERGE_REQUESTS}/:iid`]: ({ project, mergeRequest }) =>
      projects.replace(project, 'merge_requests', mergeRequest),
  };
}

function mergeRequestContentRoutes(parts: ScmParts): Routes {
  const { views, repositories, pipelines } = parts;
  const diffsOf = async (request: ScmRequest) => {
    const { source, target } = await endsOf(request, parts);
    return diffsIn(await repositories.text(request.project, 'diff', '--no-ext-diff', `${target}...${source}`));
  };
  return {
    async [`GET ${MERGE_REQUESTS}/:iid/commits`](request) {
      const { source, target } = await endsOf(request, parts);
      const found = await repositories.commits(request.project, `${target}..${source}`);
      return found.map((commit) => views.commit(request.project, commit));
    },
    [`GET ${MERGE_REQUESTS}/:iid/diffs`]: diffsOf,
    [`GET ${MERGE_REQUESTS}/:iid/changes`]: async (request) => ({
      ...views.mergeRequest(request.project, request.mergeRequest),
      changes: await diffsOf(request),
    }),
    [`GET ${MERGE_REQUESTS}/:iid/pipelines`]({ project, mergeRequest }) {
      const ofBranch = pipelines()
        .list(project.id)
        .filter(({ branch }) => branch === mergeRequest.source_branch);
      return ofBranch.map((run) => views.pipeline(run));
    },
  };
}

function noteRoutes({ projects, views }: ScmParts): Routes {
  return {
    [`GET ${NOTES}`](request) {
      const { project, mergeRequest: found } = request;
      const sorted = request.text('sort') === 'asc' ? found.notes : [...found.notes].reverse();
      return sorted.map((note) => views.note(project, found, note));
    },
    async [`POST ${NOTES}`](request) {
      const { project, mergeRequest: found } = request;
      const { body } = request.required('body');
      return views.note(project, found, await projects.addNote(project, found, body));
    },
    [`GET ${NOTES}/:note`]: ({ project, mergeRequest, note }) => views.note(project, mergeRequest, note),
    async [`PUT ${NOTES}/:note`](request) {
      const { project, mergeRequest, note } = request;
      const changed = { ...note, ...request.required('body'), updated_at: projects.now() };
      await projects.replaceMergeRequest(project, {
        ...mergeRequest,
        notes: replaced(mergeRequest.notes, note, changed),
      });
      return views.note(project, mergeRequest, changed);
    },
    [`DELETE ${NOTES}/:note`]: ({ project, mergeRequest, note }) =>
      projects.replaceMergeRequest(project, { ...mergeRequest, notes: replaced(mergeRequest.notes, note) }),
  };
}

function environmentRoutes({ projects, views }: ScmParts): Routes {
  const environmentOf = (request: ScmRequest) => request.entryOf(request.project.environments, 'Environment');
  const change = async (request: ScmRequest, changes: Partial<ScmEnvironment>) => {
    const before = environmentOf(request);
    const changed = { ...before, ...changes, updated_at: projects.now() };
    await projects.replace(request.project, 'environments', before, changed);
    return views.environment(changed);
  };
  return {
    [`GET ${ENVIRONMENTS}`](request) {
      const search = request.text('search') ?? '';
      const found = request.project.environments.filter(
        ({ name, state }) => request.isAsked('name', name) && name.includes(search) && request.isAsked('states', state),
      );
      return found.map((environment) => views.environment(environment));
    },
    async [`POST ${ENVIRONMENTS}`](request) {
      const { name } = request.required('name');
      return views.environment(await projects.createEnvironment(request.project, name, externalUrl(request) ?? null));
    },
    [`GET ${ENVIRONMENTS}/:id`]: (request) => views.environment(environmentOf(request)),
    [`PUT ${ENVIRONMENTS}/:id`](request) {
      const url = externalUrl(request);
      return change(request, url === undefined ? {} : { external_url: url });
    },
    [`POST ${ENVIRONMENTS}/:id/stop`]: (request) => change(request, { state: 'stopped' }),
    [`DELETE ${ENVIRONMENTS}/:id`](request) {
      const environment = environmentOf(request);
      if (environment.state !== 'stopped') throw new ScmError(403, { message: '403 Forbidden' });
      return projects.replace(request.project, 'environments', environment);
    },
  };
}

function statusRoutes({ projects, views, pipelines, repositories }: ScmParts): Routes {
  return {
    async 'POST /projects/:project/statuses/:sha'(request) {
      const { project } = request;
      const state = request.text('state');
      if (state === undefined) throw missing('state');
      if (!STATUSES.includes(state)) throw invalidValue('state');
      const sha = await repositories.shaOf(project, request.param('sha'));
      const status = {
        id: projects.nextId(({ statuses }) => statuses),
        sha,
        ref: request.text('ref') ?? null,
        status: state,
        name: request.text('name') ?? request.text('context') ?? 'default',
        target_url: request.text('target_url') ?? null,
        description: request.text('description') ?? null,
        created_at: projects.now(),
      };
      // One status per name: a later one replaces it.
      const otherStatuses = request.project.statuses.filter((other) => other.sha !== sha || other.name !== status.name);
      await projects.save({ ...request.project, statuses: [...otherStatuses, status] });
      return views.status(status);
    },
    'GET /projects/:project/repository/commits/:sha/statuses'(request) {
      const { project } = request;
      const matches = ({ sha }: { sha: string }) => sha === request.param('sha');
      const runs = pipelines().list(project.id).filter(matches);
      const isNewest = isNewestStatus();
      return views
        .commitStatuses(project.statuses.filter(matches), runs)
        .filter((status) => request.flag('all') || isNewest(status))
        .filter(({ name, ref }) => request.isAsked('name', name) && request.isAsked('ref', ref ?? ''));
    },
  };
}

function groupRoutes({ projects, views }: ScmParts): Routes {
  return {
    'GET /groups': () => projects.groups().map((group) => views.group(group)),
    async 'POST /groups'(request) {
      const { path } = request.required('name', 'path');
      const parent = request.text('parent_id');
      const group = { path: parent ? `${projects.group(parent).path}/${path}` : path, variables: [] };
      if (projects.groups().some((existing) => existing.path === group.path))
        throw conflict('Path has already been taken');
      await projects.saveGroup(group);
      return views.group(group);
    },
    'GET /groups/:group': ({ group }) => views.group(group),
  };
}

/** CI/CD variables of a project or group; several with one key are distinguished by their environment scope. */
function variableRoutes<N extends 'project' | 'group'>(
  path: string,
  noun: N,
  save: (owner: ScmRequest[N]) => Promise<unknown>,
): Routes {
  const replace = async (owner: ScmRequest[N], before: ScmVariable | undefined, after: ScmVariable | undefined) => {
    const otherVariables = owner.variables.filter((other) => other !== before);
    if (
      after &&
      otherVariables.some((other) => other.key === after.key && other.environment_scope === after.environment_scope)
    )
      throw new ScmError(400, { message: { key: [`(${after.key}) has already been taken`] } });
    await save({ ...owner, variables: replaced(owner.variables, before, ...(after ? [after] : [])) });
    return after && variableView(after);
  };
  return {
    [`GET ${path}`]: (request) => request[noun].variables.map(variableView),
    [`POST ${path}`](request) {
      const owner = request[noun];
      const [key, value] = [request.text('key'), request.text('value')];
      if (!key || value === undefined)
        throw missing(...['key', 'value'].filter((name) => request.text(name) === undefined));
      return replace(owner, undefined, sentFor(request, newVariable(key, value)));
    },
    [`GET ${path}/:key`]: (request) => variableView(variableOf(request[noun], request)),
    [`PUT ${path}/:key`](request) {
      const owner = request[noun];
      const before = variableOf(owner, request);
      return replace(owner, before, sentFor(request, before));
    },
    [`DELETE ${path}/:key`]: (request) => replace(request[noun], variableOf(request[noun], request), undefined),
  };
}

/** The variable with the members of the request. Throws 400. */
function sentFor(request: ScmRequest, variable: ScmVariable): ScmVariable {
  const type = request.text('variable_type') ?? variable.variable_type;
  if (type !== 'env_var' && type !== 'file') throw invalidValue('variable_type');
  const changed: ScmVariable = {
    ...variable,
    variable_type: type,
    protected: request.flag('protected') ?? variable.protected,
    // Hidden variables are also masked in logs.
    masked: request.flag('masked_and_hidden') ?? request.flag('masked') ?? variable.masked,
    raw: request.flag('raw') ?? variable.raw ?? false,
    ...request.optional('value', 'environment_scope', 'description'),
  };
  const violation = violationIn(changed);
  if (violation) throw new ScmError(400, { message: { [violation.member]: [violation.reason] } });
  return changed;
}

/** Finds a variable by key, and by its environment scope if several have the key. Throws 404 and 409. */
function variableOf({ variables }: { variables: readonly ScmVariable[] }, request: ScmRequest): ScmVariable {
  const { scope } = request;
  const [found, ...more] = variables.filter(
    (candidate) =>
      candidate.key === request.param('key') && (scope === undefined || candidate.environment_scope === scope),
  );
  if (!found) throw notFound('Variable');
  if (more.length > 0) {
    const message = "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";
    throw new ScmError(409, { message });
  }
  return found;
}

/** Adds the members that variables of earlier versions lack. */
const variableView = (variable: ScmVariable) => ({
  ...newVariable(variable.key, variable.value),
  ...variable,
  hidden: false,
});

function externalUrl(request: ScmRequest): string | undefined {
  const url = request.text('external_url');
  if (url !== undefined && url !== '' && !/^https?:\/\//i.test(url)) {
    throw new ScmError(400, { message: { external_url: ['is blocked: only allowed schemes are http, https'] } });
  }
  return url;
}
