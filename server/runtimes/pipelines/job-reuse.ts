import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { deliveryRoutes } from '../../api/routes/delivery.ts';
import { jobLines, type PipelineJob, type PipelineRun } from '../../model/pipeline-run.ts';
import { lazy } from '../../system/lazy.ts';
import { type ArtifactStore, artifactsIn, cacheName, contentOf, dotenvOf, folderName } from './artifacts.ts';
import type { Checkout } from './checkout.ts';
import { projectDirInContainer, usesDocker } from './container-job.ts';
import type { JobDefinition } from './definition.ts';
import type { EngineCommand } from './engine-command.ts';
import { git } from './git.ts';
import { jobVariables } from './job-environment.ts';
import { commandsOf, jobScripts } from './job-script.ts';
import type { RunVariables } from './job-variables.ts';
import type { PlannedJob } from './plan.ts';
import type { PlatformCalls } from './platform-calls.ts';
import { LOOPBACK } from './platform-route.ts';
import { expandText } from './variables.ts';
import { VOLATILE, VOLATILE_WORDS } from './volatile-variables.ts';

/** Changes when jobs get something else than before. */
const FORMAT = 1;
/** Keywords of jobs that do something outside the job. */
const ACTING = ['environment', 'release', 'pages', 'trigger', 'id_tokens', 'secrets', 'resource_group'];
/** Commands that read all variables. */
const ALL_VARIABLES =
  /(?:^|[\s;&|("'`])(?:printenv|env(?=\s*(?:$|["'|>;&)]))|(?:export|declare|typeset|set)\s*(?:-[px]+\s*)?(?=$|["'|>;&)]))/m;
/** More files than this with such variables concern all jobs. */
const MAX_FILES = 50;

/** What decides about the result of a job, besides the job itself. */
export interface ReuseInputs {
  artifacts: ArtifactStore;
  cacheDir: string;
  /** What each job gets a copy of. */
  checkoutDir: string;
  hasSubmodules: boolean;
  /** Paths in the checkout. */
  tracked: ReadonlySet<string>;
  projectPath: string;
  variables: RunVariables;
  filesDir: string | undefined;
  /** Where the platform is. */
  platformUrls: readonly string[];
  /** Where images are run; or why they are not. */
  engine: Pick<EngineCommand, 'imageId'> | { absence: string };
  runId: string;
}

const kept = z.object({ key: z.string(), run: z.string(), artifacts: z.string() });

/** The result of a job in an earlier run. */
interface EarlierJob {
  iid: number;
  result: Pick<PipelineJob, 'tests' | 'coverage'>;
  lines: readonly string[];
}

interface JobReuseOptions {
  platform: PlatformCalls;
  checkout: Checkout;
  /** The files of the definition, whose scripts are known by job. */
  definitionFiles: readonly string[];
  /** Are results taken from earlier runs? They are kept for later ones in any case. */
  isAsked: boolean;
}

/** Finds jobs that had the same inputs in an earlier run, and whose result is therefore known. */
export class JobReuse {
  readonly #options: JobReuseOptions;
  readonly #contents = new Map<string, Promise<string>>();
  readonly #runs = new Map<string, Promise<PipelineRun | undefined>>();
  /** What of the history jobs find: their commit is among their variables. */
  readonly #refsOfCheckout = lazy(() => {
    const { dir, lfsPointers } = this.#options.checkout;
    return Promise.all([
      git(dir, ['for-each-ref', '--format=%(refname) %(objectname)']),
      readFile(join(dir, '.git', 'shallow'), 'utf8').catch(() => ''),
      lfsPointers,
    ]);
  });
  readonly #volatileFiles = lazy(() => this.#findVolatile());

  constructor(options: JobReuseOptions) {
    this.#options = options;
  }

  /** A hash of all that decides about the result of a job; undefined for a job that always runs. */
  async keyOf(job: PlannedJob, options: ReuseInputs): Promise<string | undefined> {
    const { engine, artifacts, filesDir = '', platformUrls, tracked } = options;
    const { definition } = job;
    if (!('imageId' in engine) || !definition.image || mayAct(job)) return undefined;
    // What a job sends there by itself is not seen.
    if (!platformUrls.every((url) => LOOPBACK.test(new URL(url).hostname))) return undefined;
    if (await this.#readsVolatile(definition)) return undefined;
    const dotenv = await dotenvOf(job.artifactsOf, artifacts);
    const projectDir = projectDirInContainer(options.projectPath);
    const { values } = jobVariables(job, options.variables, { projectDir, dotenv, jobId: 0 });
    if (options.hasSubmodules && /^(?:normal|recursive)$/.test(values.GIT_SUBMODULE_STRATEGY ?? '')) return undefined;
    const image = await engine.imageId(expandText(definition.image.name, values));
    if (image === undefined) return undefined;
    const inputs = job.artifactsOf.map((name) => artifactsIn(artifacts, name));
    const caches: string[] = [];
    for (const [index, one] of (definition.cache ?? []).entries()) {
      const files = typeof one.key === 'object' ? (one.key?.files ?? []) : [];
      const isOfCommit = (path: string) =>
        tracked.has(path) && !inputs.some((dir) => dir && existsSync(join(dir, path)));
      // Which cache it is depends on what the job finds.
      if (files.length > 0 && (values.GIT_STRATEGY || !files.every(isOfCommit))) return undefined;
      const name = await cacheName(one, index, { workDir: options.checkoutDir, values });
      caches.push(name, await contentOf(join(options.cacheDir, name)));
    }
    const parts = [
      FORMAT,
      image,
      definition,
      Object.entries(values)
        .filter(([name]) => !VOLATILE.test(name))
        .map(([name, value]) => [name, filesDir ? value.replaceAll(filesDir, '') : value]),
      filesDir && (await this.#contentOf(filesDir)),
      await this.#refsOfCheckout(),
      await Promise.all(inputs.map((dir) => dir && this.#contentOf(dir))),
      caches,
    ];
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  }

  /** The result of the newest run of the job, if its inputs were the same and nothing of it is missing. */
  async find({ name }: PlannedJob, key: string, { artifacts }: ReuseInputs): Promise<EarlierJob | undefined> {
    const { isAsked, platform } = this.#options;
    if (!isAsked) return undefined;
    const dir = join(artifacts.keptDir, folderName(name));
    const text = await readFile(entryOf(dir), 'utf8').catch(() => '{}');
    const { data } = kept.safeParse(JSON.parse(text));
    if (data?.key !== key || (await this.#contentOf(dir)) !== data.artifacts) return undefined;
    const path = { pipeline_id: data.run };
    const reading =
      this.#runs.get(data.run) ?? platform.ask(deliveryRoutes.readPipelineRun, { path }).catch(() => undefined);
    this.#runs.set(data.run, reading);
    const run = await reading;
    const { state, tests, coverage } = run?.jobs.find((one) => one.name === name) ?? {};
    const lines = jobLines(name, run?.log ?? []);
    // The beginning of a long log is removed.
    if (run?.iid === undefined || state !== 'success' || !lines[0]?.startsWith('starting ')) return undefined;
    return { iid: run.iid, lines, result: { ...(tests && { tests }), ...(coverage !== undefined && { coverage }) } };
  }

  /** Notes the inputs of a job that has succeeded, unless they have changed meanwhile. */
  async keep(job: PlannedJob, before: string | undefined, options: ReuseInputs): Promise<void> {
    const key = await this.keyOf(job, options);
    // The image may have been pulled just now.
    if (key === undefined || (before ?? key) !== key) return;
    const dir = join(options.artifacts.runDir, folderName(job.name));
    const entry: z.output<typeof kept> = { key, run: options.runId, artifacts: await this.#contentOf(dir) };
    await writeFile(entryOf(dir), JSON.stringify(entry), { mode: 0o600 });
  }

  #contentOf(dir: string): Promise<string> {
    const content = this.#contents.get(dir) ?? contentOf(dir);
    this.#contents.set(dir, content);
    return content;
  }

  /** Does a job read variables that differ in each run, by its script or by files that it may use? */
  async #readsVolatile(definition: JobDefinition): Promise<boolean> {
    const text = JSON.stringify([definition, jobScripts(definition)]);
    const isReader = commandsOf(definition).some((one) => ALL_VARIABLES.test(one));
    if (isReader || new RegExp(`\\b(${VOLATILE_WORDS})\\b`).test(text)) return true;
    return (await this.#volatileFiles()).some(({ name, isForAll }) => isForAll || text.includes(name));
  }

  /** Files of the commit that have the names of such variables. */
  async #findVolatile(): Promise<VolatileFile[]> {
    const { checkout, definitionFiles } = this.#options;
    const texts = await Promise.all(
      definitionFiles.map((path) => readFile(join(checkout.dir, path), 'utf8').catch(() => '')),
    );
    const found = await this.#filesWith('-wE', VOLATILE_WORDS);
    if (found.length > MAX_FILES) return [{ name: '', isForAll: true }];
    return Promise.all(
      found.map(async (path) => {
        const name = basename(path);
        // A file that only scripts of jobs name concerns these jobs.
        const isNamed = texts.some((text) => text.includes(name));
        return { name, isForAll: !isNamed || (await this.#filesWith('-F', name)).some((one) => one !== path) };
      }),
    );
  }

  async #filesWith(option: '-wE' | '-F', text: string): Promise<string[]> {
    const { checkout, definitionFiles } = this.#options;
    const args = ['grep', '-lz', option, '-e', text, '--', '.', ':!*.md'];
    const found = await git(checkout.dir, args).catch((failure) => {
      // Its exit code for no file.
      if (failure.message.startsWith('Command failed')) return '';
      throw failure;
    });
    return found.split('\0').filter((path) => path !== '' && !definitionFiles.includes(path));
  }
}

interface VolatileFile {
  name: string;
  /** Does it concern all jobs, or those that name it? */
  isForAll: boolean;
}

const entryOf = (dir: string) => `${dir}.json`;

/** Does a job act on something besides its own files, or is it run for a reason of its own? */
function mayAct({ base, when, definition }: PlannedJob): boolean {
  const isActing = ACTING.some((keyword) => ![undefined, null, false].includes(Object(definition)[keyword]));
  const isUsual = when === 'on_success' || when === 'always';
  return isActing || !isUsual || base === 'pages' || (definition.services ?? []).length > 0 || usesDocker(definition);
}
