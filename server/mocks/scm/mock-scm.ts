import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { countBody, limitBytesInFlight } from '../../api/server/bytes-in-flight.ts';
import type { FaultRules } from '../../api/server/fault-rules.ts';
import { isForeignWrite, isOurHost } from '../../api/server/host-guard.ts';
import { closeWithin, cutSlowClients, forExpress, keepIdleConnections, listenAt } from '../../api/server/listening.ts';
import { lazyRoutes } from '../../api/server/mount-routes.ts';
import { RequestTurns } from '../../api/server/request-turns.ts';
import { applyPush } from './apply-push.ts';
import { imageRegistry } from './image-registry.ts';
import { notFound, registryError, ScmError } from './scm-error.ts';
import { ScmHooks } from './scm-hooks.ts';
import { jobNumber, jobTokenOf, type ListedRun, pipelineNumber } from './scm-pipelines.ts';
import { ScmProjects, type ScmProjectsOptions } from './scm-projects.ts';
import { ScmRepositories } from './scm-repositories.ts';
import { mergeRequestPage, PAGE_HEADERS, projectPage, type ScmParts } from './scm-request.ts';
import { hashOf, isActive, pathWithNamespace, SCM_USER } from './scm-state.ts';
import { isNewestStatus, ScmViews } from './scm-views.ts';
import { serveGit } from './serve-git.ts';

const BODY_LIMIT = '1mb';
/** Time for which an open request can continue after `stop()`. */
const STOP_GRACE_MS = 500;

export interface MockScmOptions extends ScmProjectsOptions, Pick<ScmParts, 'pipelines' | 'onFault'> {
  token: string;
  /** The project of the running pipeline whose jobs have the token with that hash; undefined if there is none. */
  projectOfJob?(tokenId: string): number | undefined;
  repositories: string;
  registry: { folder: string; maxBytes: number };
  /** Accepted host names besides loopback names; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  faults?: FaultRules;
}

/**
 * A mock GitLab: the part of the GitLab API v4 that deployment integrations use, at `/api/v4`, Git repositories over HTTP, and pages that
 * show projects and merge requests. Callers send the token as PRIVATE-TOKEN, as Bearer, or as `private_token`. Jobs of a running pipeline send their token as
 * JOB-TOKEN, as `job_token` or in any of these ways; it only grants access to what GitLab's list names of their own project.
 */
export class MockScm {
  readonly #options: MockScmOptions;
  readonly #parts: ScmParts;
  #url = '';
  #server: Server | undefined;

  constructor(options: MockScmOptions) {
    this.#options = options;
    const views = new ScmViews(() => this.#url);
    const hooks = new ScmHooks(views);
    this.#parts = {
      projects: new ScmProjects(options, hooks),
      views,
      repositories: new ScmRepositories(options.repositories),
      hooks,
      pipelines: options.pipelines,
      onFault: options.onFault,
    };
  }

  get projects(): ScmProjects {
    return this.#parts.projects;
  }

  /** Address without a trailing slash; empty before `start()`. */
  get url(): string {
    return this.#url;
  }

  /** Base of the projects API: the value of `SCM_API_URL` (D-197). */
  get apiUrl(): string {
    return `${this.#url}/api/v4/projects`;
  }

  /** All projects as the API shows them, with merge requests, notes and environments. */
  snapshot() {
    const { projects, views, pipelines } = this.#parts;
    return projects.all().map((project) => ({
      ...views.project(project),
      merge_requests: project.merge_requests.map((mergeRequest) => ({
        ...views.mergeRequest(project, mergeRequest),
        notes: mergeRequest.notes.map((note) => views.note(project, mergeRequest, note)),
      })),
      environments: project.environments.map((environment) => views.environment(environment)),
      statuses: views.commitStatuses(project.statuses, pipelines().list(project.id)).filter(isNewestStatus()),
      variables: project.variables.map(({ key }) => ({ key })),
    }));
  }

  /** Notifies webhooks of a run, or of its job, whose state has changed. */
  runChanged(run: ListedRun): void {
    const project = this.projects.all().find(({ id }) => id === run.project.id);
    if (project?.hooks?.length) this.#parts.hooks.runChanged(project, run);
  }

  async start(at: { host: string; port: number }): Promise<AddressInfo> {
    const app = this.#app();
    const options = forExpress(app, { ...cutSlowClients(), ...keepIdleConnections() });
    const server = createServer(options, new RequestTurns().schedule(app));
    limitBytesInFlight(server);
    const address = await listenAt(server, at);
    this.#server = server;
    const host =
      at.host === '0.0.0.0' || at.host === '::' ? 'localhost' : at.host.includes(':') ? `[${at.host}]` : at.host;
    this.#url = `http://${host}:${address.port}`;
    return address;
  }

  async stop(): Promise<void> {
    this.#parts.hooks.stop();
    if (this.#server) await closeWithin(this.#server, STOP_GRACE_MS);
  }

  #app(): Express {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.use((req, res, next) => {
      res.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
      // Neither a page that rebinds its own name to our address nor one that sends a form from elsewhere.
      if (!isOurHost(req.headers.host, this.#options.allowedHosts) || isForeignWrite(req))
        throw new ScmError(403, { message: '403 Forbidden' });
      next();
    });
    if (this.#options.faults)
      app.use(this.#options.faults.handlerFor('scm', ({ status }, path) => simulatedBody(status, path)));
    app.use(
      '/api/v4',
      this.#authenticate(),
      (req, _res, next) => {
        countBody(req);
        next();
      },
      express.json({ limit: BODY_LIMIT }),
      express.urlencoded({ extended: false, limit: BODY_LIMIT }),
      lazyRoutes(async () => (await import('./scm-routes.ts')).scmRouter(this.#parts)),
    );
    app.get('/jwt/auth', (req, res) => {
      const password = passwordIn(req);
      if (password !== undefined && !this.#callerOf(password)) throw new ScmError(401, { message: '401 Unauthorized' });
      res.json({ token: password ?? ANONYMOUS, access_token: password ?? ANONYMOUS, expires_in: 3600 });
    });
    app.use('/v2', this.#registryRouter());
    // Groups can be nested, so the path of a project has any number of segments.
    app.all(/^\/(.+)\.git\/(info\/refs|git-(?:upload|receive)-pack)$/, (req, res) => this.#serveGit(req, res));
    const { projects, pipelines } = this.#parts;
    app.get(/^\/(.+)\/-\/(merge_requests|pipelines|jobs)\/(\d+)$/, (req, res) => {
      const { 0: path = '', 1: kind, 2: number = '' } = req.params;
      const project = projects.get(path);
      if (kind === 'merge_requests')
        return void res.set(PAGE_HEADERS).send(mergeRequestPage(project, projects.mergeRequest(project, number)));
      const isPipeline = kind === 'pipelines';
      const run = pipelines()
        .list(project.id)
        .find((candidate) =>
          isPipeline
            ? String(pipelineNumber(candidate)) === number
            : candidate.jobs.some(({ name }) => String(jobNumber(candidate.id, name)) === number),
        );
      if (!run) throw notFound(isPipeline ? 'Pipeline' : 'Job');
      res.redirect(pipelines().windowUrl(run));
    });
    app.get(/^\/(.+\/[^/]+)$/, (req, res) => {
      res.set(PAGE_HEADERS).send(projectPage(projects.get(String(req.params[0]))));
    });
    app.use(() => {
      throw new ScmError(404, { error: '404 Not Found' });
    });
    app.use(this.#answerErrors());
    return app;
  }

  #authenticate(): RequestHandler {
    return (req, _res, next) => {
      const caller = this.#callerOf(tokenIn(req) ?? '');
      if (!caller) throw new ScmError(401, { message: '401 Unauthorized' });
      const { projectId, scopes, isJob } = caller;
      if (projectId === undefined) return next();
      const [, named] = /^\/projects\/([^/]+)/.exec(req.path) ?? [];
      if (named !== undefined && this.projects.get(decodeURIComponent(named)).id !== projectId)
        throw notFound('Project');
      if (isJob) {
        if (isOpenToJobs(req.method, req.path)) return next();
        throw new ScmError(403, {
          message: `403 Forbidden: CI_JOB_TOKEN does not give access to ${req.method} ${req.path}. Use an access token of the project.`,
        });
      }
      const isRead = req.method === 'GET' || req.method === 'HEAD';
      const isAllowed = scopes.includes('api') || (isRead && scopes.includes('read_api'));
      // Variables of groups are for those who administer them.
      const isRefused = !isRead || req.path.startsWith('/groups');
      if (!isAllowed || (named === undefined && isRefused)) throw new ScmError(403, { message: '403 Forbidden' });
      next();
    };
  }

  /** Returns the scopes of a token, and the only project that it opens, if any. */
  #callerOf(secret: string): { projectId?: number; scopes: readonly string[]; isJob?: true } | undefined {
    const isSame = (text: string, other: string) => {
      const [present, expected] = [Buffer.from(text), Buffer.from(other)];
      return present.length === expected.length && timingSafeEqual(present, expected);
    };
    const { token, projectOfJob } = this.#options;
    if (isSame(secret, token)) return { scopes: ['api'] };
    const [, tokenId = ''] = JOB_TOKEN.exec(secret) ?? [];
    if (tokenId !== '') {
      const projectId = isSame(secret, jobTokenOf(tokenId, token)) ? projectOfJob?.(tokenId) : undefined;
      return projectId === undefined ? undefined : { projectId, scopes: ['api'], isJob: true };
    }
    const hash = hashOf(secret);
    for (const { id: projectId, access_tokens = [] } of this.projects.all()) {
      const found = access_tokens.find((accessToken) => isSame(accessToken.hash, hash));
      if (found && isActive(found, this.projects.now())) return { projectId, scopes: found.scopes };
    }
    return undefined;
  }

  /** The container registry. Pulls require no password, so that container engines can run the images. */
  #registryRouter(): RequestHandler {
    const router = imageRegistry({
      ...this.#options.registry,
      requireAccess: (req, name, action) => {
        if (action === 'pull') return;
        const caller = this.#callerOf(tokenIn(req) ?? '');
        const scopes = caller?.scopes ?? [];
        if (!scopes.includes('api') && !scopes.includes('write_registry')) throw denied(name);
        const { projectId } = caller ?? {};
        if (projectId === undefined) return;
        const path = pathWithNamespace(this.projects.get(String(projectId))).toLowerCase();
        if (name !== path && !name.startsWith(`${path}/`)) throw denied(name);
      },
    });
    return (req, res, next) => {
      res.set('Docker-Distribution-Api-Version', 'registry/2.0');
      const [, bearerToken] = /^bearer\s+(\S+)$/i.exec(req.headers.authorization ?? '') ?? [];
      if (bearerToken === ANONYMOUS || (bearerToken !== undefined && this.#callerOf(bearerToken)))
        return router(req, res, next);
      // As on the real server: clients get a token with their password, or an anonymous one.
      res.set('WWW-Authenticate', `Bearer realm="${this.#url}/jwt/auth",service="container_registry"`);
      res.status(401).json({ errors: [{ code: 'UNAUTHORIZED', message: 'authentication required' }] });
    };
  }

  async #serveGit(req: Request, res: Response): Promise<void> {
    const { 0: projectPath = '', 1: service = '' } = req.params;
    const caller = this.#callerOf(passwordIn(req) || (tokenIn(req) ?? ''));
    if (!caller) {
      res.set('WWW-Authenticate', 'Basic realm="GitLab"').status(401);
      return void res
        .type('text/plain')
        .send('HTTP Basic: Access denied. Send the token of the mock GitLab as the password.\n');
    }
    const project = this.projects.get(projectPath);
    if (caller.projectId !== undefined && caller.projectId !== project.id) throw notFound('Project');
    const isPush = service === 'git-receive-pack' || req.query.service === 'git-receive-pack';
    const mayPush = !caller.isJob && caller.scopes.some((scope) => scope === 'api' || scope === 'write_repository');
    if (isPush && !mayPush)
      return void res.status(403).type('text/plain').send('This token does not give permission to push.\n');
    // Under Deno, the response to a push would not end.
    if (isPush && process.versions.deno !== undefined)
      return void res.status(501).type('text/plain').send('Pushes need a platform that runs under Node.js or Bun.\n');
    await serveGit(req, res, {
      dir: await this.#parts.repositories.dirOf(project),
      path: `/${service}`,
      user: SCM_USER.username,
      onPush: (push) => applyPush(this.#parts, project, push),
    });
  }

  #answerErrors(): ErrorRequestHandler {
    return (failure, _req, res, next) => {
      if (res.headersSent) return next(failure);
      if (failure instanceof ScmError) return void res.status(failure.status).json(failure.body);
      const { status, expose } = Object(failure);
      // Errors that express found in the request itself.
      if (expose === true && typeof status === 'number') {
        return void res
          .status(status)
          .json({ message: `${status} ${status === 413 ? 'Request Entity Too Large' : 'Bad Request'}` });
      }
      this.#options.onFault(failure);
      res.status(500).json({ message: '500 Internal Server Error' });
    };
  }
}

/** The body of an error that a fault rule ordered, as the API, the registry or a Git repository sends it. */
function simulatedBody(status: number, path: string): object | string {
  const message = `${status} ${STATUS_CODES[status] ?? 'Error'}`;
  if (path.startsWith('/v2/')) return { errors: [{ code: 'UNKNOWN', message }] };
  return path.startsWith('/api/') || path.startsWith('/jwt/') ? { message } : `${message}\n`;
}

/** Token of those who pull images without a password. */
const ANONYMOUS = 'anonymous';

const denied = (name: string) => registryError(403, 'DENIED', `this token does not give permission to push to ${name}`);

function passwordIn(req: Request): string | undefined {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(req.headers.authorization ?? '') ?? [];
  return (
    encoded &&
    Buffer.from(encoded, 'base64')
      .toString()
      .replace(/^[^:]*:/s, '')
  );
}

const JOB_TOKEN = /^glcbt-([\da-f-]{36})-[\da-f]{32}$/;

function tokenIn(req: Request): string | undefined {
  const header = req.headers['private-token'] ?? req.headers['job-token'];
  if (typeof header === 'string') return header;
  const bearer = /^bearer\s+(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const { private_token: privateToken, job_token: query = privateToken } = req.query;
  return typeof query === 'string' ? query : undefined;
}

const PROJECT = '/projects/[^/]+';
const MERGE_REQUEST = `${PROJECT}/merge_requests(?:/[^/]+)?`;

/** The calls of the API that GitLab's list of job token access has, by method; `ANY` is every one. */
const CALLS = {
  GET: [
    '/job',
    `${PROJECT}/repository/(?:branches|changelog|tags)`,
    `${PROJECT}/repository/commits/[^/]+(?:/merge_requests)?`,
    `${PROJECT}/repository/files/[^/]+/raw`,
    MERGE_REQUEST,
    `${MERGE_REQUEST}/notes(?:/[^/]+)?`,
  ],
  POST: [`${PROJECT}/trigger/pipeline`],
  PUT: [`${PROJECT}/pipelines/[^/]+/metadata`],
  ANY: [
    `${PROJECT}/(?:deployments|environments|packages|releases|registry|secure_files)(?:/.*)?`,
    `${PROJECT}/jobs/(?:[^/]+/)?artifacts(?:/.*)?`,
  ],
};

const patterns = Object.entries(CALLS).map(
  ([method, paths]) => [method, new RegExp(`^(?:${paths.join('|')})/?$`)] as const,
);

/** True if a job's token may call this. Everything else is rejected, as on GitLab. */
function isOpenToJobs(method: string, path: string): boolean {
  const read = method === 'HEAD' ? 'GET' : method;
  return patterns.some(([openMethod, pattern]) => (openMethod === 'ANY' || openMethod === read) && pattern.test(path));
}
