import type { RequestedPipeline } from '../../mocks/scm/scm-pipelines.ts';
import type { PipelineContext, PipelineRequest } from './pipeline-request.ts';
import { KeyPairCalls, type PlatformCalls } from './platform-calls.ts';
import { SAMPLE_BRANCH, SAMPLE_PROJECT, withSampleRepository } from './sample-repository.ts';

export interface PipelineServiceOptions {
  sampleDir: string;
  env: Readonly<Record<string, string | undefined>>;
  containerEngine: string;
  /** The platform, which is spoken to like by any client. */
  baseUrl(): string;
  /** A temporary key pair of root, revoked at the end of its run. */
  createKey(): Promise<{ key: string; secret: string }>;
  revokeKey(key: string): Promise<unknown>;
}

const DEMO: Omit<PipelineRequest, 'repository'> = {
  project: SAMPLE_PROJECT,
  source: undefined,
  target: { org: 'demo', environment: undefined, api: undefined, account: 'ci-service' },
  typed: {},
  only: [],
  takesWorkingTree: false,
  delays: true,
  waits: true,
  expected: [],
  // By which the window knows that it can stop it.
  startedBy: 'platform',
  isKept: false,
};

/** A run under way; it has its id once it has begun. */
interface OwnRun {
  id?: string;
  isDemo: boolean;
  stop: AbortController;
  done: Promise<unknown>;
}

/** Runs pipelines for users of the window, in the platform's process. */
export class PipelineService {
  readonly #options: PipelineServiceOptions;
  readonly #runs = new Set<OwnRun>();

  constructor(options: PipelineServiceOptions) {
    this.#options = options;
  }

  /** Starts the pipeline of the sample app; resolves once it runs, and rejects with the reason if it cannot start. */
  async demo(): Promise<{ id: string }> {
    if ([...this.#runs].some(({ isDemo }) => isDemo))
      throw new Error('it is already running. See the pipelines in the window.');
    return this.#begin(
      (run) =>
        withSampleRepository(this.#options.sampleDir, SAMPLE_BRANCH, (repository) => run({ ...DEMO, repository })),
      true,
    );
  }

  /** Runs the pipeline of a commit in a repository of the mock GitLab. */
  start(requested: RequestedPipeline): Promise<{ id: string }> {
    const { project, dir, ref: branch, isTag, sha, source, variables: typed, beforeSha } = requested;
    const path = `${project.namespace}/${project.path}`;
    const tag = isTag && { isTag };
    const defaultBranch = project.default_branch;
    const repository = { dir, branch, ...tag, sha, defaultBranch, originPath: path, uncommitted: 0 };
    return this.#begin((run) =>
      run({ ...DEMO, repository, project: path, source, typed, isKept: true, isPushed: true, beforeSha }),
    );
  }

  async retry(id: string, job: string): Promise<{ id: string }> {
    const { sampleDir } = this.#options;
    return this.#begin(async (run, platform) => {
      const { retryRequest } = await import('./retry-request.ts');
      return retryRequest(platform, { id, job, sampleDir }, ({ repository, request: retried }) =>
        run({ ...DEMO, ...retried, repository }),
      );
    });
  }

  /** Cancels a run; false for one that was not begun here, or has ended. */
  cancel(id: string): boolean {
    const run = [...this.#runs].find((ownRun) => ownRun.id === id);
    run?.stop.abort();
    return run !== undefined;
  }

  /** Cancels all; resolves when nothing of them is left. */
  async stop(): Promise<void> {
    for (const { stop } of this.#runs) stop.abort();
    await Promise.all([...this.#runs].map(({ done }) => done));
  }

  #begin(
    work: (run: (request: PipelineRequest) => Promise<unknown>, platform: PlatformCalls) => Promise<unknown>,
    isDemo = false,
  ): Promise<{ id: string }> {
    const { env, containerEngine, baseUrl, createKey, revokeKey } = this.#options;
    return new Promise((resolve, reject) => {
      const stop = new AbortController();
      const execute = async () => {
        // Not before: few starts of the platform run one.
        const { runPipelines } = await import('./run-pipeline.ts');
        const pair = await createKey();
        try {
          const platform = new KeyPairCalls(baseUrl(), pair);
          const context: PipelineContext = {
            platform,
            env,
            containerEngine,
            signal: stop.signal,
            reportLine: () => undefined, // the run's record has it all
            onBegin: ({ id }) => {
              run.id = id;
              resolve({ id });
            },
          };
          await work((request) => runPipelines(request, context), platform);
        } finally {
          await revokeKey(pair.key);
        }
      };
      const done = execute()
        .then(() => reject(new Error('it has no jobs')), reject)
        .finally(() => this.#runs.delete(run));
      const run: OwnRun = { isDemo, stop, done };
      this.#runs.add(run);
    });
  }
}
