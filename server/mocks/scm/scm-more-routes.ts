import { randomBytes } from 'node:crypto';
import { invalidValue, notFound, ScmError } from './scm-error.ts';
import { nextId } from './scm-projects.ts';
import type { Routes, ScmParts, ScmRequest } from './scm-request.ts';
import {
  groupPathsOf,
  HOOK_EVENTS,
  hashOf,
  isActive,
  SCM_USER,
  type ScmAccessToken,
  type ScmDeployment,
  type ScmHook,
  type ScmProject,
} from './scm-state.ts';

const OWNER = 50;
const SCOPES = ['api', 'read_api', 'read_repository', 'write_repository', 'read_registry', 'write_registry'];
const DEPLOYMENT_STATUSES = ['created', 'running', 'success', 'failed', 'canceled'];
const HOOKS = '/projects/:project/hooks';
const TOKENS = '/projects/:project/access_tokens';
const DEPLOYMENTS = '/projects/:project/deployments';

export function deploymentRoutes({ projects, views, hooks }: ScmParts): Routes {
  const viewOf = (project: ScmProject, deployment: ScmDeployment) => {
    const environment = project.environments.find(({ name }) => name === deployment.environment);
    return {
      ...deployment,
      environment: environment ? views.environment(environment) : null,
      user: SCM_USER,
      deployable: null,
    };
  };
  const save = async (project: ScmProject, before: ScmDeployment | undefined, after: ScmDeployment) => {
    const saved = await projects.replace(project, 'deployments', before, after);
    const { id: deployment_id, status, environment, ref, sha } = after;
    const event = { object_kind: 'deployment', status, deployment_id, environment, ref, short_sha: sha.slice(0, 8) };
    hooks.send(saved, 'deployment', { ...event, user: SCM_USER });
    return viewOf(saved, after);
  };
  const statusIn = (request: ScmRequest) => {
    const { status } = request.required('status');
    if (!DEPLOYMENT_STATUSES.includes(status)) throw invalidValue('status');
    return status;
  };
  const deploymentOf = (request: ScmRequest) => request.entryOf(request.project.deployments, 'Deployment');
  return {
    [`GET ${DEPLOYMENTS}`](request) {
      const found = (request.project.deployments ?? []).filter(
        (deployment) =>
          request.isAsked('environment', deployment.environment) && request.isAsked('status', deployment.status),
      );
      return found.map((deployment) => viewOf(request.project, deployment));
    },
    async [`POST ${DEPLOYMENTS}`](request) {
      const { environment, sha, ref } = request.required('environment', 'sha', 'ref');
      const status = statusIn(request);
      if (!request.project.environments.some(({ name }) => name === environment))
        await projects.createEnvironment(request.project, environment, null);
      const { project } = request;
      const id = nextId(project.deployments);
      const at = projects.now();
      const tag = request.flag('tag') === true;
      const newDeployment = { id, iid: id, ref, sha, tag, status, environment, created_at: at, updated_at: at };
      return save(project, undefined, newDeployment);
    },
    [`GET ${DEPLOYMENTS}/:id`]: (request) => viewOf(request.project, deploymentOf(request)),
    [`PUT ${DEPLOYMENTS}/:id`](request) {
      const found = deploymentOf(request);
      return save(request.project, found, { ...found, status: statusIn(request), updated_at: projects.now() });
    },
    [`DELETE ${DEPLOYMENTS}/:id`]: (request) => projects.replace(request.project, 'deployments', deploymentOf(request)),
  };
}

export function hookRoutes({ projects, hooks }: ScmParts): Routes {
  const viewOf = ({ id: projectId }: ScmProject, { events, token: _token, ...hook }: ScmHook) => ({
    ...hook,
    project_id: projectId,
    ...Object.fromEntries(HOOK_EVENTS.map((hookEvent) => [`${hookEvent}_events`, events.includes(hookEvent)])),
    enable_ssl_verification: true,
    alert_status: 'executable',
  });
  /** Saves a webhook with the members of the request, in place of another one. */
  const save = async (request: ScmRequest, draft: ScmHook, before?: ScmHook) => {
    const url = request.text('url') ?? draft.url;
    if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) throw new ScmError(422, { error: 'Invalid url given' });
    const events = HOOK_EVENTS.filter(
      (hookEvent) => request.flag(`${hookEvent}_events`) ?? draft.events.includes(hookEvent),
    );
    const changed = { ...draft, url, token: request.text('token') ?? draft.token, events };
    return viewOf(await projects.replace(request.project, 'hooks', before, changed), changed);
  };
  const hookOf = (request: ScmRequest) => request.entryOf(request.project.hooks, 'Hook');
  return {
    [`GET ${HOOKS}`]: ({ project }) => (project.hooks ?? []).map((hook) => viewOf(project, hook)),
    [`POST ${HOOKS}`](request) {
      const id = nextId(request.project.hooks);
      return save(request, { id, url: '', token: null, events: ['push'], created_at: projects.now() });
    },
    [`GET ${HOOKS}/:id`]: (request) => viewOf(request.project, hookOf(request)),
    [`PUT ${HOOKS}/:id`]: (request) => save(request, hookOf(request), hookOf(request)),
    [`DELETE ${HOOKS}/:id`]: (request) => projects.replace(request.project, 'hooks', hookOf(request)),
    [`GET ${HOOKS}/:id/events`]: (request) => hooks.deliveries(request.project, hookOf(request)),
  };
}

export function tokenRoutes({ projects }: ScmParts): Routes {
  const viewOf = ({ hash: _hash, ...token }: ScmAccessToken) => ({
    ...token,
    active: isActive(token, projects.now()),
    user_id: SCM_USER.id,
    last_used_at: null,
  });
  const tokenOf = (request: ScmRequest) => request.entryOf(request.project.access_tokens, 'Token');
  /** Saves a new token like `draft`, in place of another one, which is revoked. */
  const issue = async ({ project }: ScmRequest, draft: Omit<ScmAccessToken, 'id' | 'hash'>, old?: ScmAccessToken) => {
    const token = `glpat-${randomBytes(15).toString('base64url')}`;
    const newToken = { ...draft, id: nextId(project.access_tokens), hash: hashOf(token) };
    await projects.replace(project, 'access_tokens', old, ...(old ? [{ ...old, revoked: true }] : []), newToken);
    return { ...viewOf(newToken), token };
  };
  return {
    'GET /personal_access_tokens/self': () => ({
      id: 1,
      name: 'terrarium',
      revoked: false,
      active: true,
      scopes: ['api'],
      user_id: SCM_USER.id,
      created_at: projects.now(),
      expires_at: null,
    }),
    [`GET ${TOKENS}`]: ({ project }) => (project.access_tokens ?? []).map(viewOf),
    [`POST ${TOKENS}`](request) {
      const { name } = request.required('name');
      const scopes = request.texts('scopes');
      if (scopes.length === 0 || !scopes.every((scope) => SCOPES.includes(scope))) throw invalidValue('scopes');
      return issue(request, {
        name,
        scopes,
        access_level: Number(request.text('access_level') ?? OWNER),
        created_at: projects.now(),
        expires_at: request.text('expires_at') ?? null,
        revoked: false,
      });
    },
    [`GET ${TOKENS}/:id`]: (request) => viewOf(tokenOf(request)),
    [`POST ${TOKENS}/:id/rotate`]: (request) => issue(request, tokenOf(request), tokenOf(request)),
    [`DELETE ${TOKENS}/:id`](request) {
      const found = tokenOf(request);
      return projects.replace(request.project, 'access_tokens', found, { ...found, revoked: true });
    },
  };
}

/** The one user, as every list of people shows it, and what derives from projects. */
export function peopleRoutes({ projects, views }: ScmParts): Routes {
  const user = () => views.user(SCM_USER);
  const member = () => ({ ...user(), access_level: OWNER, expires_at: null });
  const isUser = (request: ScmRequest, noun: string) => {
    if (request.param('user') !== String(SCM_USER.id)) throw notFound(noun);
  };
  const memberRoutes = (owner: string, noun: 'project' | 'group'): Routes => {
    const all: Routes[string] = (request) => request[noun] && [member()];
    const readMember: Routes[string] = (request) => {
      if (request[noun]) isUser(request, 'Member');
      return member();
    };
    return {
      [`GET ${owner}/members`]: all,
      [`GET ${owner}/members/all`]: all,
      [`GET ${owner}/members/:user`]: readMember,
      [`GET ${owner}/members/all/:user`]: readMember,
    };
  };
  const protectedBranch = ({ default_branch: name }: ScmProject) => {
    const maintainers = [{ id: 1, access_level: 40, access_level_description: 'Maintainers' }];
    return { id: 1, name, push_access_levels: maintainers, merge_access_levels: maintainers, allow_force_push: false };
  };
  return {
    'GET /users': (request) => (request.isAsked('username', SCM_USER.username) ? [user()] : []),
    'GET /users/:user'(request) {
      isUser(request, 'User');
      return user();
    },
    ...memberRoutes('/projects/:project', 'project'),
    ...memberRoutes('/groups/:group', 'group'),
    'GET /namespaces': () => projects.groups().map((namespace) => ({ ...views.group(namespace), kind: 'group' })),
    'GET /namespaces/:group': ({ group }) => ({ ...views.group(group), kind: 'group' }),
    'GET /groups/:group/projects': ({ group }) =>
      projects.all().flatMap((project) => (project.namespace === group.path ? views.project(project) : [])),
    'GET /groups/:group/subgroups': ({ group }) =>
      projects.groups().flatMap((child) => (groupPathsOf(child.path).at(-2) === group.path ? views.group(child) : [])),
    'GET /projects/:project/protected_branches': ({ project }) => [protectedBranch(project)],
    'GET /projects/:project/protected_branches/:name'(request) {
      if (request.param('name') !== request.project.default_branch) throw notFound('ProtectedBranch');
      return protectedBranch(request.project);
    },
  };
}
