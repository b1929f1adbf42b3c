import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LineCounter, parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { PipelineError } from './pipeline-error.ts';
import { DEFINITION } from './repository.ts';

const texts = z.union([z.string(), z.array(z.string())]).transform((one) => (typeof one === 'string' ? [one] : one));
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]).transform((one) => String(one ?? ''));
const variables = z
  .record(
    z.string(),
    z.union([scalar, z.looseObject({ value: scalar.optional() }).transform(({ value }) => value ?? '')]),
  )
  .nullish()
  .transform((all) => all ?? {});
const allowFailure = z.union([
  z.boolean(),
  z.object({ exit_codes: z.union([z.int(), z.array(z.int())]) }).transform(({ exit_codes: codes }) => ({
    exitCodes: typeof codes === 'number' ? [codes] : codes,
  })),
]);
const paths = z.union([texts, z.looseObject({ paths: texts }).transform((one) => one.paths)]);
/** Another job that has to end before; `job` is absent, or of elsewhere, when it is one of another pipeline. */
const needParts = z.looseObject({
  job: z.string().optional(),
  artifacts: z.boolean().optional(),
  optional: z.boolean().optional(),
  project: z.unknown().optional(),
  pipeline: z.unknown().optional(),
});
const need = z.union([z.string().transform((job): z.output<typeof needParts> => ({ job })), needParts]);

const rule = z.looseObject({
  if: z.string().optional(),
  changes: paths.optional(),
  exists: paths.optional(),
  when: z.string().optional(),
  allow_failure: allowFailure.optional(),
  variables: variables.optional(),
  needs: z.array(need).optional(),
});
const refsParts = z.looseObject({ refs: texts.optional(), variables: texts.optional(), changes: paths.optional() });
const refs = z.union([texts.transform((one): z.output<typeof refsParts> => ({ refs: one })), refsParts]);
const imageParts = z.looseObject({
  name: z.string(),
  entrypoint: texts.optional(),
  docker: z.looseObject({ user: z.coerce.string().optional() }).optional(),
  pull_policy: texts.optional(),
});
const image = z.union([z.string().transform((name): z.output<typeof imageParts> => ({ name })), imageParts]);
const serviceParts = z.looseObject({
  name: z.string(),
  alias: z.string().optional(),
  entrypoint: texts.optional(),
  command: texts.optional(),
  variables: variables.optional(),
});
const service = z.union([z.string().transform((name): z.output<typeof serviceParts> => ({ name })), serviceParts]);
const cacheKey = z.union([scalar, z.looseObject({ files: texts, prefix: z.string().optional() })]);
const cache = z.looseObject({
  key: cacheKey.nullish(),
  paths: texts.optional(),
  policy: z.string().optional(),
  when: z.string().optional(),
});
const environmentParts = z.looseObject({
  name: z.string(),
  url: z.string().nullish(),
  action: z.string().optional(),
  deployment_tier: z.string().optional(),
});
const environment = z.union([
  z.string().transform((name): z.output<typeof environmentParts> => ({ name })),
  environmentParts,
]);

const job = z.looseObject({
  stage: z.string().default('test'),
  script: texts.optional(),
  before_script: texts.nullish(),
  after_script: texts.nullish(),
  image: image.nullish(),
  services: z.array(service).nullish(),
  variables,
  rules: z.array(rule).nullish(),
  only: refs.nullish(),
  except: refs.nullish(),
  when: z.string().optional(),
  allow_failure: allowFailure.optional(),
  needs: z.array(need).nullish(),
  dependencies: z.array(z.string()).nullish(),
  parallel: z
    .union([
      z.int(),
      z.looseObject({
        matrix: z.array(z.record(z.string(), z.union([scalar.transform((one) => [one]), z.array(scalar)]))),
      }),
    ])
    .nullish(),
  artifacts: z
    .looseObject({
      paths: texts.optional(),
      exclude: texts.optional(),
      untracked: z.boolean().optional(),
      when: z.string().optional(),
      reports: z.looseObject({ dotenv: texts.optional() }).nullish(),
    })
    .nullish(),
  cache: z.union([z.array(cache), cache.transform((one) => [one])]).nullish(),
  environment: environment.nullish(),
  inherit: z.looseObject({ variables: z.union([z.boolean(), z.array(z.string())]).optional() }).nullish(),
  retry: z.union([z.int(), z.looseObject({ max: z.int().optional() }).transform(({ max }) => max ?? 0)]).nullish(),
  timeout: z.string().nullish(),
  trigger: z.unknown().optional(),
});

const definition = z.looseObject({
  stages: z.array(z.string()).default([]),
  variables,
  workflow: z.looseObject({ rules: z.array(rule).nullish(), name: z.string().optional() }).nullish(),
});

export type JobDefinition = z.output<typeof job>;
export type Rule = z.output<typeof rule>;
export type RefsFilter = z.output<typeof refs>;
export type AllowFailure = z.output<typeof allowFailure>;
export type CacheDefinition = z.output<typeof cache>;
export type ServiceDefinition = z.output<typeof service>;
export type ImageDefinition = z.output<typeof image>;

/** A pipeline's definition with all that it includes, extends and refers to put in. */
export interface Definition {
  stages: readonly string[];
  variables: Readonly<Record<string, string>>;
  workflowRules: readonly Rule[] | undefined;
  jobs: ReadonlyMap<string, JobDefinition>;
}

const NO_JOBS = [
  'default',
  'include',
  'stages',
  'variables',
  'workflow',
  'image',
  'services',
  'cache',
  'before_script',
  'after_script',
  'spec',
  'pages:deploy',
];

export interface ReadOptions {
  /** The checkout. */
  dir: string;
  /** For what the reader writes. */
  folder: string;
  /** By which rules of includes decide. */
  variables: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/**
 * Reads the definition of a checkout.
 *
 * @throws PipelineError for one that cannot be read, with file and line where they are known
 */
export async function readDefinition(options: ReadOptions): Promise<Definition> {
  await checkFiles(options.dir, DEFINITION, new Set());
  const found = parse(await expandedText(options), { maxAliasCount: -1, logLevel: 'error' });
  const { success, data, error } = definition.safeParse(found);
  if (!success) throw unreadable(DEFINITION, error);
  const jobs = new Map<string, JobDefinition>();
  for (const [name, content] of Object.entries(Object(found))) {
    if (name.startsWith('.') || NO_JOBS.includes(name)) continue;
    const read = job.safeParse(content);
    if (!read.success) throw unreadable(`${DEFINITION}: job '${name}'`, read.error);
    if (read.data.script === undefined && read.data.trigger === undefined)
      throw new PipelineError(`${DEFINITION}: job '${name}' has no script`);
    jobs.set(name, read.data);
  }
  for (const [name, { stage }] of jobs) {
    if (!data.stages.includes(stage))
      throw new PipelineError(
        `${DEFINITION}: job '${name}' is of stage '${stage}', and the stages are ${data.stages.join(', ')}`,
      );
  }
  return { stages: data.stages, variables: data.variables, workflowRules: data.workflow?.rules ?? undefined, jobs };
}

function unreadable(where: string, error: z.ZodError): PipelineError {
  const [issue] = error.issues;
  return new PipelineError(`${where} cannot be read: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

/** Tells of what is no YAML with file and line, which the reader does not; follows local includes. */
async function checkFiles(dir: string, path: string, seen: Set<string>): Promise<void> {
  if (seen.has(path)) return;
  seen.add(path);
  const content = await readFile(join(dir, path), 'utf8').catch(() => undefined);
  if (content === undefined) return; // the reader says so, unless a rule leaves it out
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(content, {
    lineCounter,
    customTags: [{ tag: '!reference', collection: 'seq', resolve: (one: unknown) => one as never }],
    uniqueKeys: false,
    logLevel: 'error',
  });
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error) {
      const { line, col } = lineCounter.linePos(error.pos[0]);
      throw new PipelineError(
        `${path}:${line}:${col} is no YAML: ${error.message.split('\n', 1)[0]?.replace(/ at line.*$/, '')}`,
      );
    }
  }
  const includes: unknown = Object(Array.isArray(documents) ? documents.at(-1)?.toJS() : undefined).include;
  for (const one of Array.isArray(includes) ? includes : [includes]) {
    const local: unknown = typeof one === 'string' ? one : Object(one).local;
    if (typeof local === 'string' && !/[*$]|^https?:/.test(local))
      await checkFiles(dir, local.replace(/^\/+/, ''), seen);
  }
}

/** What `gitlab-ci-local --preview` makes of the definition. */
async function expandedText({ dir, folder, variables: given, env, signal }: ReadOptions): Promise<string> {
  const reader = findReader();
  // A place of its own inside the checkout, as the reader demands; git does not see it.
  const state = join('.git', 'terrarium');
  const values = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      { type: 'variable', values: { '*': value.replaceAll('$', '$$$$') } },
    ]),
  );
  const file = join(dir, state, 'variables.yml');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, asciiJson(values), { mode: 0o600 });
  const words = [
    reader,
    '--preview',
    '--no-evaluate-rule-changes',
    '--state-dir',
    state,
    '--variables-file',
    join(state, 'variables.yml'),
    '--home',
    folder,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    cwd: dir,
    env: { ...env, FORCE_COLOR: '0', NO_COLOR: '1', CI_BUILDS_DIR: `${folder}/` },
    maxBuffer: Number.POSITIVE_INFINITY,
    signal,
  }).catch((failure) => {
    signal.throwIfAborted();
    throw new PipelineError(`${DEFINITION} cannot be read: ${complaintIn(failure.stderr)}`);
  });
  return stdout.slice(stdout.search(/^---$/m) + 4);
}

/** ASCII only: YAML takes fewer characters as they are than JSON does. */
function asciiJson(value: unknown): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped)}\n`;
}

function findReader(): string {
  try {
    return createRequire(import.meta.url).resolve('gitlab-ci-local/dist/index.js');
  } catch {
    throw new PipelineError('what reads .gitlab-ci.yml is not installed: npm install --save-dev gitlab-ci-local');
  }
}

/** What it says of a definition, without how it came to know that, and what it says of every repository. */
function complaintIn(said: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter(
      (line) =>
        line !== '' &&
        !/^at .*:\d+|^(parsing and downloads|json schema validated|Using fallback|Unable to retrieve|Command failed with|fatal:|error: No such remote|For further trouble|• (Copy|Use))/.test(
          line,
        ),
    );
  return (
    lines
      .join(' ')
      .replace(/^(?:Assertion)?Error: /, '')
      .replace(/^Invalid \.gitlab-ci\.yml configuration! • /, '') || 'its reader says nothing'
  );
}
