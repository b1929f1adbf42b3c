import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { LineCounter, parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import { faultOfYaml } from '../../model/yaml-limits.ts';
import { renameFile } from '../../system/files-in-use.ts';
import { runProgram } from '../../system/programs.ts';
import { INSTALL_READER } from './declaration.ts';
import { isTrue } from './expression.ts';
import { git, withoutPassword } from './git.ts';
import { PipelineError } from './pipeline-error.ts';
import { edited, includeEdits, isMatrixJob, nameEdits, scalarEdits } from './reader-edits.ts';
import { DEFINITION } from './repository.ts';
import { spanMs } from './time-span.ts';

/** Most of one file, as on the server. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

/** As on the server. */
const MAX_EXTENDS = 11;

/** Maximum number of jobs that one job becomes by `parallel`, as on the server. */
const MAX_PARALLEL = 200;

/** The reader takes this long for a definition with many includes. */
const READER_TIMEOUT_MS = 60_000;

/** Represents an include of another server among the files that were read. */
const ELSEWHERE = '(elsewhere)';

/** Most of all files with what they extend, include and repeat. */
const MAX_EXPANDED_BYTES = 16 * 1024 * 1024;

/** A record, for which a text or a list may stand that is one member of it. */
const shorthandFor = <T extends z.ZodType>(member: string, parts: T) =>
  z.preprocess((value) => (typeof value === 'string' || Array.isArray(value) ? { [member]: value } : value), parts);
const texts = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => (typeof value === 'string' ? [value] : value));
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]).transform((value) => String(value ?? ''));
const variables = z
  .record(
    z.string(),
    z.union([scalar, z.looseObject({ value: scalar.optional() }).transform(({ value }) => value ?? '')]),
  )
  .nullish()
  .transform((all) => all ?? {});
const span = z.string().refine((text) => spanMs(text) !== undefined, 'is not a duration, such as 1h 30m');
const allowFailure = z.union([
  z.boolean(),
  z.object({ exit_codes: z.union([z.int(), z.array(z.int())]) }).transform(({ exit_codes: codes }) => ({
    exitCodes: typeof codes === 'number' ? [codes] : codes,
  })),
]);
const exists = shorthandFor('paths', z.looseObject({ paths: texts }));
const changes = shorthandFor('paths', z.looseObject({ paths: texts, compare_to: z.string().optional() }));
const matrix = z.array(z.record(z.string(), z.union([scalar.transform((value) => [value]), z.array(scalar)])));
/** Another job that has to end before; `job` is absent, or of elsewhere, when it is one of another pipeline. */
const need = shorthandFor(
  'job',
  z.looseObject({
    job: z.string().optional(),
    artifacts: z.boolean().optional(),
    optional: z.boolean().optional(),
    project: z.unknown().optional(),
    pipeline: z.unknown().optional(),
    /** Only these of its parallel jobs. */
    parallel: z.looseObject({ matrix }).optional(),
  }),
);

const rule = z.looseObject({
  if: z.string().optional(),
  changes: changes.optional(),
  exists: exists.optional(),
  when: z.string().optional(),
  start_in: span.optional(),
  allow_failure: allowFailure.optional(),
  variables: variables.optional(),
  needs: z.array(need).optional(),
});
const refs = shorthandFor(
  'refs',
  z.looseObject({ refs: texts.optional(), variables: texts.optional(), changes: changes.optional() }),
);
const image = shorthandFor(
  'name',
  z.looseObject({
    name: z.string(),
    entrypoint: texts.optional(),
    docker: z.looseObject({ user: z.coerce.string().optional() }).optional(),
    pull_policy: texts.optional(),
  }),
);
const service = shorthandFor(
  'name',
  z.looseObject({
    name: z.string(),
    alias: z.string().optional(),
    entrypoint: texts.optional(),
    command: texts.optional(),
    variables: variables.optional(),
  }),
);
const cacheKey = z.union([scalar, z.looseObject({ files: texts, prefix: z.string().optional() })]);
const cache = z.looseObject({
  key: cacheKey.nullish(),
  paths: texts.optional(),
  untracked: z.boolean().optional(),
  policy: z.string().optional(),
  when: z.string().optional(),
});
const environment = shorthandFor(
  'name',
  z.looseObject({
    name: z.string(),
    url: z.string().nullish(),
    action: z.string().optional(),
    deployment_tier: z.string().optional(),
  }),
);

const inherits = z.union([z.boolean(), z.array(z.string())]);
const retry = z.union([
  z.int().transform((max): RetryDefinition => ({ max, when: ['always'], exitCodes: [] })),
  z
    .looseObject({
      max: z.int().optional(),
      when: texts.optional(),
      exit_codes: z.union([z.int().transform((exitCode) => [exitCode]), z.array(z.int())]).optional(),
    })
    .transform(({ max = 0, when, exit_codes: exitCodes = [] }): RetryDefinition => {
      return { max, when: when ?? (exitCodes.length > 0 ? [] : ['always']), exitCodes };
    }),
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
  parallel: z.union([z.int(), z.looseObject({ matrix })]).nullish(),
  artifacts: z
    .looseObject({
      paths: texts.optional(),
      exclude: texts.optional(),
      untracked: z.boolean().optional(),
      when: z.string().optional(),
      reports: z
        .looseObject({
          dotenv: texts.optional(),
          junit: texts.optional(),
          coverage_report: z.looseObject({ coverage_format: z.string(), path: z.string() }).optional(),
        })
        .nullish(),
    })
    .nullish(),
  cache: z.union([z.array(cache), cache.transform((value) => [value])]).nullish(),
  environment: environment.nullish(),
  inherit: z.looseObject({ variables: inherits.optional(), default: inherits.optional() }).nullish(),
  retry: retry.nullish(),
  timeout: span.nullish(),
  coverage: z.string().nullish(),
  start_in: span.nullish(),
  resource_group: z.string().optional(),
  trigger: z.unknown().optional(),
});

const definition = z.looseObject({
  stages: z.array(z.string()).default([]),
  variables,
  workflow: z.looseObject({ rules: z.array(rule).nullish(), name: z.string().optional() }).nullish(),
});

/** After which failures a job is tried again, and how often. */
export interface RetryDefinition {
  max: number;
  /** Kinds of failures, such as `script_failure`, or `always`. */
  when: readonly string[];
  exitCodes: readonly number[];
}
export type JobDefinition = z.output<typeof job>;
export type Rule = z.output<typeof rule>;
export type RefsFilter = z.output<typeof refs>;
export type Changes = z.output<typeof changes>;
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

const NO_JOBS =
  'default include stages variables workflow image services cache before_script after_script spec pages:deploy'.split(
    ' ',
  );

export interface ReadOptions {
  dir: string;
  /** The repository of the folder's checkout: its remote `origin` has the includes of other projects. */
  repositoryDir: string;
  /** The path of the definition in the folder. */
  file?: string;
  /** For what the reader writes. */
  folder: string;
  /** The variables that the rules of includes read. */
  variables: Readonly<Record<string, string>>;
  /** True if files of a rule of an include have changed. */
  hasChanged(changes: Changes): boolean;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** The files of a definition. */
interface DefinitionFiles {
  visited: Set<string>;
  /** The files that the reader reads in another way than they are written, by their paths in the file system. */
  changed: Map<string, string>;
}

/**
 * Reads the definition of a checkout.
 *
 * @throws PipelineError for one that cannot be read, with file and line where they are known
 */
export async function readDefinition(options: ReadOptions): Promise<Definition> {
  const file = options.file ?? DEFINITION;
  const files: DefinitionFiles = { visited: new Set(), changed: new Map() };
  const written = await checkFiles(options, file, files);
  const read = () => expandedText(options, files);
  const text = files.visited.has(ELSEWHERE) ? await withRealOrigin(options, read) : await read();
  const fault = faultOfYaml(text);
  if (fault) throw new PipelineError(`${file} cannot be read: when expanded, ${fault.reason}`);
  const found = parse(text, { maxAliasCount: -1, logLevel: 'error' });
  const { success, data, error } = definition.safeParse(found);
  if (!success) throw unreadable(file, error);
  const jobs = new Map<string, JobDefinition>();
  for (const [name, content] of Object.entries(Object(found))) {
    if (name.startsWith('.') || NO_JOBS.includes(name)) continue;
    refuseConditions(file, name, Object(content)); // those of other servers' files
    const read = job.safeParse(withUnread(written, name, Object(content)));
    if (!read.success) throw unreadable(`${file}: job '${name}'`, read.error);
    if (read.data.script === undefined && read.data.trigger === undefined)
      throw new PipelineError(`${file}: job '${name}' has no script`);
    jobs.set(name, read.data);
  }
  for (const [name, { stage }] of jobs) {
    if (!data.stages.includes(stage))
      throw new PipelineError(
        `${file}: job '${name}' has the unknown stage '${stage}'. The stages are ${data.stages.join(', ')}.`,
      );
  }
  const workflowRules = data.workflow?.rules ?? undefined;
  return { stages: data.stages, variables: data.variables, workflowRules, jobs };
}

/** Keywords of `default` that the reader leaves out. */
const UNREAD_DEFAULTS = ['hooks', 'id_tokens', 'identity', 'interruptible', 'retry', 'tags', 'timeout'];
/** Keywords of which the reader leaves out members. */
const PARTLY_READ = ['image', 'services', 'cache'];

/**
 * A job with what its reader leaves out or changes: some of `default`, which parallel jobs a need means, and members of some keywords.
 * The reader also replaces the needs of a job by those of a rule, which may be one that does not match here.
 */
function withUnread(written: Written, name: string, content: Written): Written {
  const isInherited = (keyword: string) => {
    const inherited: unknown = Object(content.inherit).default ?? true;
    return Array.isArray(inherited) ? inherited.includes(keyword) : inherited !== false;
  };
  const ofDefault = (keyword: string) => (isInherited(keyword) ? Object(written.default)[keyword] : undefined);
  const defaults = UNREAD_DEFAULTS.filter(isInherited).map((keyword) => [keyword, ofDefault(keyword)]);
  const isWritten = isWhollyWritten(written, name);
  const writtenOf = (keyword: string) =>
    writtenValue(written, name, keyword) ?? ofDefault(keyword) ?? (isInherited(keyword) ? written[keyword] : undefined);
  const wholeValues = PARTLY_READ.filter((keyword) => isWritten && content[keyword]).map((keyword) => [
    keyword,
    withMembers(content[keyword], writtenOf(keyword)),
  ]);
  const caches = [writtenOf('cache') ?? []].flat();
  // The reader leaves out such caches if they have no paths.
  const hasUntracked = isWritten && caches.every(isRecord) && caches.some(({ untracked }) => untracked === true);
  const all = [...defaults, ...Object.entries(content), ...wholeValues, ...(hasUntracked ? [['cache', caches]] : [])];
  const dependencies = withMatrixJobs(content.dependencies, writtenValue(written, name, 'dependencies'));
  const readRules = withNeeds(content.rules, writtenValue(written, name, 'rules'));
  const read = { ...Object.fromEntries(all), dependencies, rules: readRules };
  const needs = writtenValue(written, name, 'needs');
  const ownNeeds: unknown[] = Array.isArray(needs) ? needs : [];
  const rules: unknown[] = Array.isArray(content.rules) ? content.rules : [];
  if (isWritten && ownNeeds.every(isPlainNeed) && rules.some((rule) => Object(rule).needs !== undefined))
    return { ...read, needs };
  if (!Array.isArray(content.needs)) return read;
  const withParallel = content.needs.map((need, at) => {
    const { job, parallel } = Object(isRecord(ownNeeds[at]) ? ownNeeds[at] : { job: ownNeeds[at] });
    return { ...Object(need), ...(isMatrixJob(job) && { job }), ...(parallel !== undefined && { parallel }) };
  });
  return { ...read, needs: withParallel };
}

/** Rules as they were read, but with their needs as they are written. */
function withNeeds(rules: unknown, written: unknown): unknown {
  if (!Array.isArray(rules) || !Array.isArray(written) || rules.length !== written.length) return rules;
  return rules.map((rule, at) => {
    const { needs } = Object(written[at]);
    return Array.isArray(needs) && needs.every(isPlainNeed) ? { ...Object(rule), needs } : rule;
  });
}

/** Names as they were read, but those of single jobs of a matrix as they are written. */
function withMatrixJobs(names: unknown, written: unknown): unknown {
  if (!Array.isArray(names) || !Array.isArray(written) || names.length !== written.length) return names;
  return names.map((name, at) => (isMatrixJob(written[at]) ? written[at] : name));
}

/** A value as it was read, with the members that only the written one has. */
function withMembers(read: unknown, written: unknown): unknown {
  if (Array.isArray(read)) {
    const elements = [written].flat();
    return elements.length === read.length ? read.map((element, at) => withMembers(element, elements[at])) : read;
  }
  if (!isRecord(read) || !isRecord(written)) return read;
  const members = Object.entries(read).map(([name, value]) => [name, withMembers(value, written[name])]);
  return { ...written, ...Object.fromEntries(members) };
}

const isRecord = (value: unknown): value is Written =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the jobs that a job extends. */
const parentsOf = (written: Written, name: string): string[] =>
  [Object(written[name]).extends].flat().filter((parent) => typeof parent === 'string');

/** True if a job and all that it extends are in files that were followed. */
function isWhollyWritten(written: Written, name: string, depth = 0): boolean {
  if (!(name in written) || depth > MAX_EXTENDS) return false;
  return parentsOf(written, name).every((parent) => isWhollyWritten(written, parent, depth + 1));
}

/** Returns a keyword of a job as it is written, over that of jobs that it extends. */
function writtenValue(written: Written, name: string, keyword: string, depth = 0): unknown {
  const { [keyword]: value } = Object(written[name]);
  if (depth > MAX_EXTENDS) return value;
  const values = parentsOf(written, name).map((parent) => writtenValue(written, parent, keyword, depth + 1));
  const found = [...values, value].filter((part) => part !== undefined);
  return found.length > 1 && found.every(isRecord) ? Object.assign({}, ...found) : found.at(-1);
}

/** False for a `!reference`, which is read as the list of its words and begins with a hidden job, and for an input. */
function isPlainNeed(need: unknown): boolean {
  const name: unknown = isRecord(need) ? need.job : need;
  return typeof name === 'string' && !/^\.|\$\[\[/.test(name);
}

function unreadable(where: string, error: z.ZodError): PipelineError {
  const [issue] = error.issues;
  return new PipelineError(`${where} cannot be read: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

/** The content of a file. */
type Written = Readonly<Record<string, unknown>>;

/**
 * Reports invalid YAML with file and line, which gitlab-ci-local does not; follows local includes. Resolves to what the files say, as
 * it is written.
 */
async function checkFiles(options: ReadOptions, path: string, files: DefinitionFiles): Promise<Written> {
  if (files.visited.has(path)) return {};
  files.visited.add(path);
  const content = await readFile(join(options.dir, path), 'utf8').catch(() => undefined);
  if (content === undefined) return {}; // the reader says so, unless a rule leaves it out
  if (content.length > MAX_FILE_CHARACTERS)
    throw new PipelineError(`${path} cannot be read: it has more than ${MAX_FILE_CHARACTERS} characters`);
  const fault = faultOfYaml(content);
  if (fault) throw new PipelineError(`${path}:${fault.line} cannot be read: ${fault.reason}`);
  const lineCounter = new LineCounter();
  const documentsOf = (text: string) =>
    parseAllDocuments(text, {
      lineCounter,
      customTags: [{ tag: '!reference', collection: 'seq', resolve: (value: unknown) => value as never }],
      uniqueKeys: false,
      merge: true,
      logLevel: 'error',
    });
  const documents = documentsOf(content);
  for (const document of documents) {
    const [error] = document.errors;
    if (error) {
      const { line, col } = lineCounter.linePos(error.pos[0]);
      throw new PipelineError(
        `${path}:${line}:${col} is not valid YAML: ${error.message.split('\n', 1)[0]?.replace(/ at line.*$/, '')}`,
      );
    }
  }
  const lineOf = (at: number) => `${path}:${lineCounter.linePos(at).line}`;
  const edits = documents.flatMap((document) => scalarEdits(document, lineOf));
  const ofReader = [
    ...documents.flatMap(nameEdits),
    ...includeEdits(documents.at(-1), (rule) => isUnchanged(rule, options)),
  ];
  const readAs = edited(content, [...edits, ...ofReader]);
  if (readAs !== content) {
    const file = await realpath(join(options.dir, path));
    // A link can lead out of the checkout.
    if (file.startsWith(`${await realpath(options.dir)}${sep}`)) files.changed.set(file, readAs);
  }
  let last: unknown;
  try {
    last = (edits.length > 0 ? documentsOf(edited(content, edits)) : documents).at(-1)?.toJS();
  } catch (cause) {
    throw new PipelineError(`${path} cannot be read: ${reasonOf(cause)}`);
  }
  const definition: Written = Object(last);
  for (const [name, content] of Object.entries(definition)) {
    refuseManyJobs(`${path}: job '${name}'`, Object(content).parallel);
    for (const entry of [content].flat()) refuseConditions(path, name, Object(entry));
  }
  let all: Written = {};
  for (const include of [definition.include ?? []].flat()) {
    const local: unknown = typeof include === 'string' ? include : Object(include).local;
    if (typeof local === 'string' && !/[*$]|^https?:/.test(local))
      all = { ...all, ...(await checkFiles(options, local.replace(/^\/+/, ''), files)) };
    else files.visited.add(typeof local === 'string' && !/^https?:/.test(local) ? local : ELSEWHERE);
  }
  return merged(all, definition);
}

/** True for a rule of an include that matches but for its files, none of which has changed. */
function isUnchanged(rule: unknown, { variables, hasChanged }: ReadOptions): boolean {
  const { if: condition, changes: value } = Object(rule);
  if (value === undefined || (typeof condition === 'string' && !isTrue(condition, variables))) return false;
  const { success, data } = changes.safeParse(value);
  return success && !hasChanged(data);
}

/** The content of a file over that of what it includes: jobs of both have the keywords of both. */
function merged(included: Written, including: Written): Written {
  const entries = Object.entries(including).map(([name, value]) => {
    const other = included[name];
    return [name, isRecord(value) && isRecord(other) ? { ...other, ...value } : value];
  });
  return { ...included, ...Object.fromEntries(entries) };
}

/** Refuses conditions that cannot be read, also in jobs that others extend. */
function refuseConditions(path: string, name: string, { rules, only: onlyFilter, except }: Written): void {
  const listed = (list: unknown): unknown[] => (Array.isArray(list) ? list : []);
  const conditions = [
    ...listed(rules).map((rule, at) => [`rule ${at + 1}`, Object(rule).if]),
    ...Object.entries({ only: onlyFilter, except }).flatMap(([keyword, filter]) =>
      listed(Object(filter).variables).map((condition, at) => [
        `condition ${at + 1} of '${keyword}:variables'`,
        condition,
      ]),
    ),
  ];
  for (const [location, condition] of conditions) {
    try {
      if (typeof condition === 'string') isTrue(condition, {});
    } catch (failure) {
      throw new PipelineError(`${path}: ${location} of '${name}': ${reasonOf(failure)}`);
    }
  }
}

/** Refuses what the reader would need hours for. */
function refuseManyJobs(where: string, parallel: unknown): void {
  const rows: unknown[] = [Object(parallel).matrix ?? []].flat();
  const sizeOf = (row: unknown) =>
    Object.values(Object(row)).reduce<number>((size, values) => size * (Array.isArray(values) ? values.length : 1), 1);
  const count = typeof parallel === 'number' ? parallel : rows.reduce<number>((sum, row) => sum + sizeOf(row), 0);
  if (count > MAX_PARALLEL)
    throw new PipelineError(`${where} becomes ${count} parallel jobs, but the maximum is ${MAX_PARALLEL}`);
}

/** The reader prefers this remote to `origin`, which is the mock GitLab in a checkout. */
const READER_ORIGIN = 'gcl-origin';

async function withRealOrigin({ dir, repositoryDir }: ReadOptions, read: () => Promise<string>): Promise<string> {
  const origin = await git(repositoryDir, ['remote', 'get-url', 'origin']).catch(() => '');
  // The reader takes the host of addresses only.
  if (!/^(?:https?|ssh):\/\/|^[^/]+@[^/]+:/.test(origin)) return read();
  const address = withoutPassword(origin);
  await git(dir, ['remote', 'add', READER_ORIGIN, address]);
  try {
    return await read();
  } finally {
    await git(dir, ['remote', 'remove', READER_ORIGIN]);
  }
}

/** Returns the definition as expanded by `gitlab-ci-local --preview`. */
async function expandedText(
  { dir, file: definitionFile = DEFINITION, folder, variables: definitionVariables, env, signal }: ReadOptions,
  { changed }: DefinitionFiles,
): Promise<string> {
  const reader = findReader();
  // A place of its own inside the checkout, as the reader demands; git does not see it.
  const state = join('.git', 'terrarium');
  const values = Object.fromEntries(
    Object.entries(definitionVariables).map(([name, value]) => [
      name,
      { type: 'variable', values: { '*': value.replaceAll('$', '$$$$') } },
    ]),
  );
  const file = join(dir, state, 'variables.yml');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, asciiJson(values), { mode: 0o600 });
  const args = [reader, '--preview', '--no-evaluate-rule-changes', '--file', definitionFile, '--home', folder];
  args.push('--state-dir', state, '--variables-file', join(state, 'variables.yml'));
  // The reader takes the branch of the checkout otherwise.
  if (definitionVariables.CI_COMMIT_BRANCH === undefined) args.push('--unset-variable', 'CI_COMMIT_BRANCH');
  const movedFiles = new Map<string, string>();
  const readerFiles = READER_FILES.map((name) => join(dir, name)).filter((path) => existsSync(path));
  try {
    for (const path of new Set([...readerFiles, ...changed.keys()])) {
      const aside = join(dir, state, `moved-${movedFiles.size}`);
      await renameFile(path, aside);
      movedFiles.set(path, aside);
    }
    for (const [path, readAs] of changed) await writeFile(path, readAs);
    const { stdout } = await runProgram(process.execPath, args, {
      cwd: dir,
      env: { ...env, FORCE_COLOR: '0', NO_COLOR: '1', GIT_TERMINAL_PROMPT: '0', CI_BUILDS_DIR: `${folder}/` },
      maxBuffer: MAX_EXPANDED_BYTES,
      timeout: READER_TIMEOUT_MS,
      signal,
    }).catch((failure) => {
      signal.throwIfAborted();
      if (failure.killed && failure.signal === 'SIGTERM')
        throw new PipelineError(`${definitionFile} cannot be read within ${READER_TIMEOUT_MS / 1_000} s`);
      const isLarge = failure.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const reason = isLarge
        ? `it is larger than ${MAX_EXPANDED_BYTES} bytes when expanded`
        : complaintIn(failure.stderr);
      throw new PipelineError(`${definitionFile} cannot be read: ${reason}`);
    });
    return stdout.slice(stdout.search(/^---$/m) + 4);
  } finally {
    // Jobs find them unchanged in their checkouts.
    for (const [path, aside] of movedFiles) await renameFile(aside, path);
  }
}

/** Files of a repository by which gitlab-ci-local changes a pipeline; a server ignores them. */
const READER_FILES = ['.gitlab-ci-local.yml', '.gitlab-ci-local-env'];

/** ASCII only, because YAML allows fewer unescaped characters than JSON. */
function asciiJson(value: unknown): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped)}\n`;
}

function findReader(): string {
  try {
    return createRequire(import.meta.url).resolve('gitlab-ci-local/dist/index.js');
  } catch {
    throw new PipelineError(`gitlab-ci-local is not installed: ${INSTALL_READER}`);
  }
}

/** The message about the definition, without stack or file names, and without hints that apply to every repository. */
function complaintIn(output: string): string {
  const lines = output
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
      .replace(/(could not be fetched \{[^}]*\}) Error: Command failed.*$/, '$1')
      .replace(/^Invalid \.gitlab-ci\.yml configuration! • /, '')
      .replace(/ \[#\/[^\]]*\]/g, '') || 'no reason given'
  );
}
