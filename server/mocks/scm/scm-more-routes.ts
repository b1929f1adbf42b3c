import { randomBytes } from 'node:crypto';
import { invalidValue, notFound, ScmError } from './scm-error.ts';
import { Listed, type Routes, replaced, type ScmRequest, type ScmRoutesOptions } from './scm-request.ts';
import {
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

const nextId = (all: readonly { id: number }[]) => Math.max(0, ...all.map(({ id }) => id)) + 1;

/** One entry of a list, by the parameter `id`. Throws 404. */
function entryOf<T extends { id: number }>(request: ScmRequest, all: readonly T[] | undefined, noun: string): T {
  const found = all?.find(({ id }) => String(id) === request.param('id'));
  if (!found) throw notFound(noun);
  return found;
}

export function deploymentRoutes({ projects, views, hooks }: ScmRoutesOptions): Routes {
  const shown = (project: ScmProject, deployment: ScmDeployment) => {
    const environment = project.environments.find(({ name }) => name === deployment.environment);
    return {
      ...deployment,
      environment: environment ? views.environment(environment) : null,
      user: SCM_USER,
      deployable: null,
    };
  };
  const save = async (project: ScmProject, deployments: ScmDeployment[], one: ScmDeployment) => {
    const saved = await projects.save({ ...project, deployments });
    const { id, status, environment, ref, sha } = one;
    const event = {
      object_kind: 'deployment',
      status,
      deployment_id: id,
      environment,
      ref,
      short_sha: sha.slice(0, 8),
    };
    hooks.send(saved, 'deployment', { ...event, project: views.inHook(saved), user: SCM_USER });
    return shown(saved, one);
  };
  const statusIn = (request: ScmRequest) => {
    const { status } = request.required('status');
    if (!DEPLOYMENT_STATUSES.includes(status)) throw invalidValue('status');
    return status;
  };
  return {
    [`GET ${DEPLOYMENTS}`](request) {
      const { project } = request;
      const found = (project.deployments ?? []).filter(
        (one) => request.isAsked('environment', one.environment) && request.isAsked('status', one.status),
      );
      return new Listed(found.map((one) => shown(project, one)));
    },
    async [`POST ${DEPLOYMENTS}`](request) {
      const { environment, sha, ref } = request.required('environment', 'sha', 'ref');
      const status = statusIn(request);
      if (!request.project.environments.some(({ name }) => name === environment))
        await projects.createEnvironment(request.project, environment, null);
      const { project } = request;
      const before = project.deployments ?? [];
      const id = nextId(before);
      const at = projects.now();
      const tag = request.flag('tag') === true;
      const made = { id, iid: id, ref, sha, tag, status, environment, created_at: at, updated_at: at };
      return save(project, [...before, made], made);
    },
    [`GET ${DEPLOYMENTS}/:id`]: (request) =>
      shown(request.project, entryOf(request, request.project.deployments, 'Deployment')),
    async [`PUT ${DEPLOYMENTS}/:id`](request) {
      const { project } = request;
      const found = entryOf(request, project.deployments, 'Deployment');
      const changed = { ...found, status: statusIn(request), updated_at: projects.now() };
      return save(project, replaced(project.deployments, found, changed), changed);
    },
    async [`DELETE ${DEPLOYMENTS}/:id`](request) {
      const { project } = request;
      const found = entryOf(request, project.deployments, 'Deployment');
      await projects.save({ ...project, deployments: replaced(project.deployments, found) });
      return undefined;
    },
  };
}

export function hookRoutes({ projects, views, hooks }: ScmRoutesOptions): Routes {
  const shown = ({ id: projectId }: ScmProject, { events, token: _token, ...hook }: ScmHook) => ({
    ...hook,
    project_id: projectId,
    ...Object.fromEntries(HOOK_EVENTS.map((one) => [`${one}_events`, events.includes(one)])),
    enable_ssl_verification: true,
    alert_status: 'executable',
  });
  const sentFor = (request: ScmRequest, { events: before, ...hook }: ScmHook): ScmHook => {
    const url = request.text('url') ?? hook.url;
    if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) throw new ScmError(422, { error: 'Invalid url given' });
    const events = HOOK_EVENTS.filter((one) => request.flag(`${one}_events`) ?? before.includes(one));
    return { ...hook, url, token: request.text('token') ?? hook.token, events };
  };
  const replace = async (project: ScmProject, before: ScmHook, ...after: ScmHook[]) => {
    await projects.save({ ...project, hooks: replaced(project.hooks, before, ...after) });
    return after.map((one) => shown(project, one))[0];
  };
  const hookOf = (request: ScmRequest) => entryOf(request, request.project.hooks, 'Hook');
  return {
    [`GET ${HOOKS}`]: ({ project }) => new Listed((project.hooks ?? []).map((one) => shown(project, one))),
    async [`POST ${HOOKS}`](request) {
      const { project } = request;
      const before = project.hooks ?? [];
      const draft: ScmHook = { id: nextId(before), url: '', token: null, events: ['push'], created_at: projects.now() };
      const made = sentFor(request, draft);
      await projects.save({ ...project, hooks: [...before, made] });
      return shown(project, made);
    },
    [`GET ${HOOKS}/:id`]: (request) => shown(request.project, hookOf(request)),
    [`PUT ${HOOKS}/:id`]: (request) => replace(request.project, hookOf(request), sentFor(request, hookOf(request))),
    [`DELETE ${HOOKS}/:id`]: (request) => replace(request.project, hookOf(request)),
    [`GET ${HOOKS}/:id/events`]: (request) => new Listed(hooks.deliveries(request.project, hookOf(request))),
    async [`POST ${HOOKS}/:id/test/:event`](request) {
      const { project } = request;
      const event = HOOK_EVENTS.find((one) => `${one}_events` === request.param('event'));
      if (!event) throw invalidValue('trigger');
      const body = { object_kind: event, project_id: project.id, project: views.inHook(project), user: SCM_USER };
      const { response_status: status, response_body: text } = await hooks.deliver(
        project,
        hookOf(request),
        event,
        body,
      );
      if (!/^2/.test(status)) throw new ScmError(422, { message: `the webhook responded: ${status} ${text}` });
      return { message: `${status} Created` };
    },
  };
}

export function tokenRoutes({ projects }: ScmRoutesOptions): Routes {
  const shown = ({ hash: _hash, ...token }: ScmAccessToken) => ({
    ...token,
    active: isActive(token),
    user_id: SCM_USER.id,
    last_used_at: null,
  });
  const newToken = () => `glpat-${randomBytes(15).toString('base64url')}`;
  const save = async (project: ScmProject, access_tokens: ScmAccessToken[]) =>
    void (await projects.save({ ...project, access_tokens }));
  const tokenOf = (request: ScmRequest) => entryOf(request, request.project.access_tokens, 'Token');
  const replace = ({ project }: ScmRequest, found: ScmAccessToken, ...after: ScmAccessToken[]) =>
    save(project, replaced(project.access_tokens, found, ...after));
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
    [`GET ${TOKENS}`]: ({ project }) => new Listed((project.access_tokens ?? []).map(shown)),
    async [`POST ${TOKENS}`](request) {
      const { project } = request;
      const { name } = request.required('name');
      const scopes = request.texts('scopes');
      if (scopes.length === 0 || !scopes.every((one) => SCOPES.includes(one))) throw invalidValue('scopes');
      const before = project.access_tokens ?? [];
      const token = newToken();
      const made: ScmAccessToken = {
        id: nextId(before),
        name,
        hash: hashOf(token),
        scopes,
        access_level: Number(request.text('access_level') ?? OWNER),
        created_at: projects.now(),
        expires_at: request.text('expires_at') ?? null,
        revoked: false,
      };
      await save(project, [...before, made]);
      return { ...shown(made), token };
    },
    [`GET ${TOKENS}/:id`]: (request) => shown(tokenOf(request)),
    async [`POST ${TOKENS}/:id/rotate`](request) {
      const found = tokenOf(request);
      const token = newToken();
      const made = { ...found, id: nextId(request.project.access_tokens ?? []), hash: hashOf(token) };
      await replace(request, found, { ...found, revoked: true }, made);
      return { ...shown(made), token };
    },
    async [`DELETE ${TOKENS}/:id`](request) {
      const found = tokenOf(request);
      await replace(request, found, { ...found, revoked: true });
      return undefined;
    },
  };
}

/** The one user, as every list of people shows it, and what derives from projects. */
export function peopleRoutes({ projects, views }: ScmRoutesOptions): Routes {
  const user = () => views.user(SCM_USER);
  const member = () => ({ ...user(), access_level: OWNER, expires_at: null });
  const isUser = (request: ScmRequest, noun: string) => {
    if (request.param('user') !== String(SCM_USER.id)) throw notFound(noun);
  };
  const protectedBranch = ({ default_branch: name }: ScmProject) => {
    const maintainers = [{ id: 1, access_level: 40, access_level_description: 'Maintainers' }];
    return { id: 1, name, push_access_levels: maintainers, merge_access_levels: maintainers, allow_force_push: false };
  };
  return {
    'GET /users': (request) => new Listed(request.isAsked('username', SCM_USER.username) ? [user()] : []),
    'GET /users/:user'(request) {
      isUser(request, 'User');
      return user();
    },
    ...Object.fromEntries(
      ['/projects/:project', '/groups/:group'].flatMap((owner) =>
        ['members', 'members/all'].flatMap((path) => {
          const owned = (request: ScmRequest) => (owner.startsWith('/p') ? request.project : request.group);
          return [
            [`GET ${owner}/${path}`, (request: ScmRequest) => owned(request) && new Listed([member()])],
            [
              `GET ${owner}/${path}/:user`,
              (request: ScmRequest) => {
                owned(request);
                isUser(request, 'Member');
                return member();
              },
            ],
          ];
        }),
      ),
    ),
    'GET /namespaces': () => new Listed(projects.groups().map((one) => ({ ...views.group(one), kind: 'group' }))),
    'GET /namespaces/:group': ({ group }) => ({ ...views.group(group), kind: 'group' }),
    'GET /groups/:group/projects'({ group }) {
      return new Listed(
        projects
          .all()
          .filter(({ namespace }) => namespace === group.path)
          .map((one) => views.project(one)),
      );
    },
    'GET /groups/:group/subgroups'({ group }) {
      const isBelow = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/'))) === group.path;
      return new Listed(
        projects
          .groups()
          .filter(({ path }) => isBelow(path))
          .map((one) => views.group(one)),
      );
    },
    'GET /projects/:project/protected_branches': ({ project }) => new Listed([protectedBranch(project)]),
    'GET /projects/:project/protected_branches/:name'(request) {
      if (request.param('name') !== request.project.default_branch) throw notFound('ProtectedBranch');
      return protectedBranch(request.project);
    },
  };
}
