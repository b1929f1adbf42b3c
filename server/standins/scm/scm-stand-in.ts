import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { forExpress } from '../../http/for-express.ts';
import { isForeignWrite } from '../../http/foreign-write.ts';
import { isOurHost } from '../../http/host-guard.ts';
import { keepIdleConnections } from '../../http/idle-connections.ts';
import { lazyRoutes } from '../../http/lazy-routes.ts';
import { closeWithin, listenAt } from '../../http/listening.ts';
import { cutSlowClients } from '../../http/slow-clients.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { notFound, ScmError } from './scm-error.ts';
import { mergeRequestPage, PAGE_HEADERS, projectPage } from './scm-pages.ts';
import { ScmProjects } from './scm-projects.ts';
import { scmRoutes } from './scm-routes.ts';
import type { ScmProject } from './scm-state.ts';
import { ScmViews } from './scm-views.ts';

const BODY_LIMIT = '1mb';
/** How long a request under way may go on after `stop()`. */
const STOP_GRACE_MS = 500;

export interface ScmStandInOptions {
  /** Where projects are kept, by id. */
  projects: KeyedLog<ScmProject>;
  /** The access token that is accepted. */
  token: string;
  /** The project of the running pipeline whose jobs have a token of that id; undefined: there is none (any more). */
  projectOfJob?(tokenId: string): number | undefined;
  /** Host names besides the loopback ones; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  nowMs(): number;
  /** Told of each project as it is kept anew. */
  onChange?(project: ScmProject): void;
  /** Told of each request once it is answered; `path` is without the query, which may hold a token. */
  onRequest?(request: { method: string; path: string; status: number }): void;
  onFault(fault: unknown): void;
}

/**
 * A local source-control server: the part of the GitLab API v4 that deployment integrations use, at `/api/v4`, and pages to look
 * at projects and merge requests. Callers show the token as PRIVATE-TOKEN, as Bearer, or as `private_token`; jobs of a running
 * pipeline theirs as JOB-TOKEN, as `job_token` or as any of those: it opens their own project.
 */
export class ScmStandIn {
  readonly #options: ScmStandInOptions;
  readonly projects: ScmProjects;
  readonly #views: ScmViews;
  #url = '';
  #server: Server | undefined;

  constructor(options: ScmStandInOptions) {
    this.#options = options;
    this.projects = new ScmProjects(options.projects, {
      nowMs: options.nowMs,
      onChange: options.onChange ?? (() => undefined),
    });
    this.#views = new ScmViews(() => this.#url);
  }

  /** Where it listens, without a slash at its end; empty before `start()`. */
  get url(): string {
    return this.#url;
  }

  /** Base of the projects' API: what `SCM_API_URL` means (D-197). */
  get apiUrl(): string {
    return `${this.#url}/api/v4/projects`;
  }

  /** Everything that it keeps, as the API shows it, with each project's merge requests, notes and environments. */
  snapshot() {
    return this.projects.all().map((project) => ({
      ...this.#views.project(project),
      merge_requests: project.merge_requests.map((one) => ({
        ...this.#views.mergeRequest(project, one),
        notes: one.notes.map((note) => this.#views.note(project, one, note)),
      })),
      environments: project.environments.map((one) => this.#views.environment(one)),
      statuses: project.statuses.map((one) => this.#views.status(one)),
      variables: project.variables.map(({ key }) => ({ key })),
    }));
  }

  /** Begins to listen. */
  async start(at: { host: string; port: number }): Promise<AddressInfo> {
    const app = this.#app();
    const server = createServer(forExpress(app, { ...cutSlowClients(), ...keepIdleConnections() }), app);
    const address = await listenAt(server, at);
    this.#server = server;
    const host =
      at.host === '0.0.0.0' || at.host === '::' ? 'localhost' : at.host.includes(':') ? `[${at.host}]` : at.host;
    this.#url = `http://${host}:${address.port}`;
    return address;
  }

  async stop(): Promise<void> {
    if (this.#server) await closeWithin(this.#server, STOP_GRACE_MS);
  }

  #app(): Express {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.use((req, res, next) => {
      const { method, path } = req;
      res.once('finish', () => this.#options.onRequest?.({ method, path, status: res.statusCode }));
      res.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
      // Neither a page that rebinds its own name to our address nor one that sends a form from elsewhere.
      if (!isOurHost(req.headers.host, this.#options.allowedHosts) || isForeignWrite(req))
        throw new ScmError(403, { message: '403 Forbidden' });
      next();
    });
    const { projects } = this;
    app.use(
      '/api/v4',
      this.#authenticate(),
      express.json({ limit: BODY_LIMIT }),
      express.urlencoded({ extended: false, limit: BODY_LIMIT }),
      // Reading all their paths would be a part of every start, and hardly one asks here.
      lazyRoutes(async () => scmRoutes({ projects, views: this.#views, baseUrl: () => this.#url })),
    );
    app.get('/:namespace/:path', (req, res) => {
      res.set(PAGE_HEADERS).send(projectPage(projects.get(`${req.params.namespace}/${req.params.path}`)));
    });
    app.get('/:namespace/:path/-/merge_requests/:iid', (req, res) => {
      const project = projects.get(`${req.params.namespace}/${req.params.path}`);
      res.set(PAGE_HEADERS).send(mergeRequestPage(project, projects.mergeRequest(project, req.params.iid)));
    });
    app.use(() => {
      throw new ScmError(404, { error: '404 Not Found' });
    });
    app.use(this.#answerErrors());
    return app;
  }

  #authenticate(): RequestHandler {
    const isSame = (one: string, other: string) => {
      const [sent, wanted] = [Buffer.from(one), Buffer.from(other)];
      return sent.length === wanted.length && timingSafeEqual(sent, wanted);
    };
    const { token, projectOfJob } = this.#options;
    return (req, _res, next) => {
      const sent = tokenIn(req) ?? '';
      if (isSame(sent, token)) return next();
      const [, tokenId = ''] = JOB_TOKEN.exec(sent) ?? [];
      const projectId = isSame(sent, jobTokenOf(tokenId, token)) ? projectOfJob?.(tokenId) : undefined;
      if (projectId === undefined) throw new ScmError(401, { message: '401 Unauthorized' });
      const [, named] = /^\/projects\/([^/]+)/.exec(req.path) ?? [];
      if (named !== undefined && this.projects.get(decodeURIComponent(named)).id !== projectId)
        throw notFound('Project');
      if (named === undefined && req.method !== 'GET') throw new ScmError(403, { message: '403 Forbidden' });
      next();
    };
  }

  #answerErrors(): ErrorRequestHandler {
    return (failure, _req, res, next) => {
      if (res.headersSent) return next(failure);
      if (failure instanceof ScmError) return void res.status(failure.status).json(failure.body);
      const { status, expose } = Object(failure);
      // What express found wrong with the request itself.
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

const JOB_TOKEN = /^glcbt-([\da-f-]{36})-[\da-f]{32}$/;

/** The token of a pipeline's jobs, which nobody makes up who does not know the server's own. */
function jobTokenOf(tokenId: string, token: string): string {
  return `glcbt-${tokenId}-${createHmac('sha256', token).update(tokenId).digest('hex').slice(0, 32)}`;
}

function tokenIn(req: Request): string | undefined {
  const header = req.headers['private-token'] ?? req.headers['job-token'];
  if (typeof header === 'string') return header;
  const bearer = /^bearer\s+(\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const { private_token: own, job_token: query = own } = req.query;
  return typeof query === 'string' ? query : undefined;
}
