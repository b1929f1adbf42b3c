import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { LineCounter, parse } from 'yaml';
import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import { parsingOf } from '../../model/rules/validate.ts';
import { faultOfAliases, faultOfYaml } from '../../model/yaml-faults.ts';
import { removeTree, renameFile } from '../../system/files-in-use.ts';
import { runProgram } from '../../system/programs.ts';
import { INSTALL_READER } from './declaration.ts';
import { type Definition, globalSchema, type JobDefinition, jobSchema, ruleSchema } from './definition-schema.ts';
import { isTrue } from './expression.ts';
import { git, withoutPassword } from './git.ts';
import { expandText } from './job-variables.ts';
import { patternOf } from './pattern.ts';
import { PipelineError } from './pipeline-error.ts';
import type { PlanContext } from './pipeline-request.ts';
import { DEFINITION } from './repository.ts';
import { type ComparedFiles, matchingRule } from './rules.ts';
import { asciiJson, contentOf, documentsIn, isRecord, Reference, textForReader, type Written } from './server-yaml.ts';

/** Most of one file, as on the server. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

/** As on the server. */
const MAX_EXTENDS = 11;

/** Maximum number of jobs that one job becomes by `parallel`, as on the server. */
const MAX_PARALLEL = 200;

/** The reader takes this long for a definition with many includes. */
const READER_TIMEOUT_MS = 60_000;

/** Folder of the reader inside the checkout, as it demands; git does not see it. */
export const READER_FOLDER = '.git/terrarium';
/** The reader keeps the files of other projects and servers there, and downloads those only that it does not find. */
const DOWNLOADS = `${READER_FOLDER}/includes`;

/** Most of all files with what they extend, include and repeat. */
const MAX_EXPANDED_BYTES = 16 * 1024 * 1024;

const NO_JOBS =
  'default include stages variables workflow image services cache before_script after_script spec pages:deploy'.split(
    ' ',
  );

/** The run for which definitions are read. */
export interface ReadingRun {
  /** The repository of the checkout: its remote `origin` has the includes of other projects. */
  request: { repository: { dir: string } };
  context: Pick<PlanContext, 'env' | 'signal'>;
  /** For what the reader writes. */
  folder: { path: string };
}

export interface ReadOptions extends ReadingRun {
  dir: string;
  file?: string;
  /** The variables that includes and their rules read. */
  variables: Readonly<Record<string, string>>;
  facts: ComparedFiles;
}

interface Reading extends ReadOptions {
  file: string;
  visited: Set<string>;
  /** Set if the reader finds some by itself. */
  hasForeign: boolean;
  /** The includes of other projects and servers. */
  foreign: Written[];
  /** The files that the reader reads in another way than they are written, by their paths in the file system. */
  changed: Map<string, string>;
}

/**
 * Reads the definition of a checkout.
 *
 * @throws PipelineError for one that cannot be read, with file and line where they are known
 */
export async function readDefinition(options: ReadOptions): Promise<Definition> {
  const { file = DEFINITION } = options;
  const reading: Reading = { ...options, file, visited: new Set(), hasForeign: false, foreign: [], changed: new Map() };
  const expand = async () => {
    const local = await readFiles(reading, file);
    const written = merged(local.included, local.content);
    try {
      if (reading.hasForeign) return await withRealOrigin(reading, () => expandForeign(reading, local));
      return { text: await expandedText(reading), written };
    } catch (failure) {
      // A mistake for which the reader has no message of its own.
      if (reasonOf(failure).includes(' TypeError: ')) refuseJobs(file, written);
      throw failure;
    }
  };
  const { text, written } = await expand().finally(() => removeTree(join(options.dir, READER_FOLDER)));
  const fault = faultOfYaml(text);
  if (fault) throw new PipelineError(`${file} cannot be read: when expanded, ${fault.reason}`);
  const found = parse(text, { maxAliasCount: -1, logLevel: 'error' });
  const { success, data, error } = globalSchema.safeParse(found);
  if (!success) throw unreadable(file, error);
  if (/^[\s-]*changes:/m.test(text)) await options.facts.compareCommits();
  const jobs = new Map<string, JobDefinition>();
  for (const [name, content] of Object.entries(Object(found))) {
    if (name.startsWith('.') || NO_JOBS.includes(name)) continue;
    refuseConditions(file, name, Object(content)); // those that inputs are part of
    const read = jobSchema.safeParse(withUnread(written, name, Object(content)), parsingOf(jobSchema));
    if (!read.success) throw unreadable(`${file}: job '${name}'`, read.error);
    jobs.set(name, read.data);
  }
  const workflowRules = data.workflow?.rules ?? undefined;
  const global = {
    include: reading.foreign,
    variables: Object.values(Object(written.variables)),
    workflow: written.workflow,
  };
  return { stages: data.stages, variables: withEmpty(data.variables, written.variables), workflowRules, jobs, global };
}

/** Variables as they were read: the reader takes a word for the value of one that has none. */
function withEmpty(read: Definition['variables'], written: unknown): Definition['variables'] {
  const values = Object.entries(read).map(([name, value]) => {
    const variable: unknown = Object(written)[name];
    const isEmpty = isRecord(variable) && (variable.value ?? null) === null && value === String(variable.value);
    return [name, isEmpty ? '' : value];
  });
  return Object.fromEntries(values);
}

/** Keywords of `default` that the reader leaves out. */
const UNREAD_DEFAULTS = ['hooks', 'id_tokens', 'identity', 'interruptible', 'retry', 'tags', 'timeout'];
/** Keywords of which the reader leaves out members. */
const PARTLY_READ = ['image', 'services', 'cache', 'artifacts'];

/**
 * A job with what its reader leaves out or changes: some of `default`, members of some keywords, and needs. Of these it does not know the
 * single jobs of a matrix, and it replaces those of a job by those of a rule, which may be one that does not match here.
 */
function withUnread(written: Written, name: string, content: Written): Written {
  const isWritten = isWhollyWritten(written, name);
  const ofJob = (keyword: string) => writtenValue(written, name, keyword);
  const writtenInherit = isWritten ? ofJob('inherit') : undefined;
  const inherit = writtenInherit !== undefined && isWithoutInputs(writtenInherit) ? writtenInherit : content.inherit;
  const isInherited = (keyword: string) => {
    const inherited: unknown = Object(inherit).default ?? true;
    return Array.isArray(inherited) ? inherited.includes(keyword) : inherited !== false;
  };
  const ofDefault = (keyword: string) => (isInherited(keyword) ? writtenValue(written, 'default', keyword) : undefined);
  const read = {
    ...Object.fromEntries(UNREAD_DEFAULTS.filter(isInherited).map((keyword) => [keyword, ofDefault(keyword)])),
    ...content,
  };
  if (!isWritten) return read;
  const writtenOf = (keyword: string) =>
    ofJob(keyword) ?? ofDefault(keyword) ?? (isInherited(keyword) ? written[keyword] : undefined);
  for (const keyword of PARTLY_READ)
    if (content[keyword]) read[keyword] = withMembers(content[keyword], writtenOf(keyword));
  const caches = [writtenOf('cache') ?? []].flat();
  // The reader leaves out such caches if they have no paths.
  if (caches.every(isRecord) && caches.some(({ untracked }) => untracked === true)) read.cache = caches;
  if ([content.rules].flat().some((rule) => Object(rule).needs !== undefined) && ofJob('needs') === undefined)
    read.needs = undefined;
  for (const keyword of ['needs', 'dependencies']) {
    const value = ofJob(keyword);
    if (value !== undefined && isWithoutInputs(value)) read[keyword] = value;
  }
  const rules = ofJob('rules');
  if (Array.isArray(content.rules) && Array.isArray(rules) && rules.length === content.rules.length)
    read.rules = content.rules.map((rule, at) => {
      const { needs } = Object(rules[at]);
      return needs !== undefined && isWithoutInputs(needs) ? { ...Object(rule), needs } : rule;
    });
  return read;
}

const isWithoutInputs = (value: unknown) => !JSON.stringify(value)?.includes('$[[');

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

const parentsOf = (written: Written, name: string): string[] =>
  [Object(written[name]).extends].flat().filter((parent) => typeof parent === 'string');

/** True if a job and all that it extends are in files that were followed. */
function isWhollyWritten(written: Written, name: string, depth = 0): boolean {
  if (!Object.hasOwn(written, name) || depth > MAX_EXTENDS) return false;
  return parentsOf(written, name).every((parent) => isWhollyWritten(written, parent, depth + 1));
}

/** Returns a keyword of a job as it is written, over that of jobs that it extends, with what it refers to. */
function writtenValue(written: Written, name: string, keyword: string, depth = 0): unknown {
  const value = resolved(written, Object(written[name])[keyword], depth);
  if (depth > MAX_EXTENDS) return value;
  const values = parentsOf(written, name).map((parent) => writtenValue(written, parent, keyword, depth + 1));
  const found = [...values, value].filter((part) => part !== undefined);
  return found.length > 1 && found.every(isRecord) ? Object.assign({}, ...found) : found.at(-1);
}

/**
 * Replaces the references in a value, and the lists in its lists by their elements; undefined if a list refers to what was not followed. The
 * reader has refused circular references.
 */
function resolved(written: Written, value: unknown, depth: number): unknown {
  if (value instanceof Reference) {
    const [name = '', keyword = '', ...more] = value.path;
    const target = depth > MAX_EXTENDS ? undefined : writtenValue(written, name, keyword, depth + 1);
    return more.reduce((part, key) => Object(part)[key], target);
  }
  if (Array.isArray(value)) {
    const elements = value.map((element) => resolved(written, element, depth));
    return elements.includes(undefined) ? undefined : elements.flat();
  }
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolved(written, part, depth)]));
}

/** Refuses jobs whose keywords have wrong values, as far as they are known as they are written. */
function refuseJobs(file: string, written: Written): void {
  for (const [name, content] of Object.entries(written)) {
    if (name.startsWith('.') || NO_JOBS.includes(name)) continue;
    if (!isRecord(content))
      throw new PipelineError(`${file}: '${name}' is neither a keyword nor a job. A job has keywords, such as script.`);
    if (!isWhollyWritten(written, name)) continue;
    const values = Object.keys(jobSchema.shape).map((keyword) => [keyword, writtenValue(written, name, keyword)]);
    const { error } = jobSchema.safeParse(Object.fromEntries(values), parsingOf(jobSchema));
    if (error) throw unreadable(`${file}: job '${name}'`, error);
  }
}

const hasReference = (value: unknown): boolean =>
  value instanceof Reference || (typeof value === 'object' && Object.values(value ?? {}).some(hasReference));

function unreadable(where: string, error: z.ZodError): PipelineError {
  const [issue] = error.issues;
  return new PipelineError(`${where} cannot be read: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

/** The content of a file and of those that it includes, as it is written. */
interface FileContent {
  content: Written;
  included: Written;
}

/** Reads a file, and those of the repository that it includes. */
async function readFiles(reading: Reading, path: string): Promise<FileContent> {
  const { visited, variables, foreign } = reading;
  if (visited.has(path)) return { content: {}, included: {} };
  visited.add(path);
  const { content, includes } = await readOneFile(reading, path);
  let included: Written = {};
  for (const include of includes) {
    const { local, component } = include;
    const name = localComponent(expandText(String(component), variables), variables);
    if (typeof local !== 'string') {
      reading.hasForeign = true;
      if (name === undefined) foreign.push(include);
    }
    const location = typeof local === 'string' ? expandText(local, variables).replace(/^\/+/, '') : undefined;
    const paths = name ? [`templates/${name}.yml`, `templates/${name}/template.yml`] : namedFiles(location, reading);
    for (const path of paths) {
      const file = await readFiles(reading, path);
      included = merged(included, merged(file.included, file.content));
    }
  }
  return { content, included };
}

/** The name of a component of this commit, which the reader reads from the checkout; undefined for another one. */
function localComponent(
  component: string,
  { CI_SERVER_FQDN: host, CI_PROJECT_PATH: project, CI_COMMIT_SHA: sha }: ReadOptions['variables'],
): string | undefined {
  const [, location, name, ref] = /^(.+)\/([^/@]+)@(.+)$/.exec(component) ?? [];
  return location === `${host}/${project}` && ref === sha ? name : undefined;
}

/** The files that the path of an include means: with `*` some of the commit, in the way of the server. */
function namedFiles(location: string | undefined, { facts }: ReadOptions): string[] {
  if (!location?.includes('*')) return location === undefined ? [] : [location];
  const source = location
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*?/g, (stars) => (stars === '*' ? '[^/]*' : '.*'));
  return facts.files.filter(patternOf(`^${source}$`));
}

/** Reads a file as the server reads it, and notes how the reader has to read it. Reports invalid YAML with file and line. */
async function readOneFile(
  options: Reading,
  path: string,
): Promise<{ content: Written; includes: readonly Written[] }> {
  const text = await readFile(join(options.dir, path), 'utf8').catch(() => undefined);
  if (text === undefined) return { content: {}, includes: [] }; // the reader says so
  const name = path.replace(`${DOWNLOADS}/`, '');
  if (text.length > MAX_FILE_CHARACTERS)
    throw new PipelineError(`${name} cannot be read: it has more than ${MAX_FILE_CHARACTERS} characters`);
  const fault = faultOfYaml(text);
  if (fault) throw new PipelineError(`${name}:${fault.line} cannot be read: ${fault.reason}`);
  const lines = new LineCounter();
  const documents = documentsIn(text, lines);
  for (const { errors, contents } of documents) {
    const [error] = errors;
    if (error) {
      const { line, col } = lines.linePos(error.pos[0]);
      const complaint = error.code === 'TAG_RESOLVE_FAILED' ? 'cannot be read' : 'is not valid YAML';
      throw new PipelineError(
        `${name}:${line}:${col} ${complaint}: ${error.message.split('\n', 1)[0]?.replace(/ at line.*$/, '')}`,
      );
    }
    const excess = faultOfAliases(contents);
    if (excess)
      throw new PipelineError(`${name}:${lines.linePos(excess.offset).line} cannot be read: ${excess.reason}`);
  }
  let values: unknown[];
  try {
    values = documents.map(contentOf).filter((value) => value !== null);
  } catch (cause) {
    throw new PipelineError(`${name} cannot be read: ${reasonOf(cause)}`);
  }
  // Without a header, a server reads the first document only.
  if (!('spec' in Object(values[0]))) values.splice(1);
  const content: Written = Object(values.at(-1));
  for (const [key, value] of Object.entries(content)) {
    refuseManyJobs(`${name}: job '${key}'`, Object(value).parallel);
    if (!key.startsWith('.') && !NO_JOBS.includes(key) && Object(value).run !== undefined)
      throw new PipelineError(`${name}: job '${key}' has the keyword run, but steps are not run`);
    for (const entry of [value].flat()) refuseConditions(name, key, Object(entry));
  }
  const written = [content.include ?? []].flat();
  const includes = await chosenIncludes(name, written, options);
  const isCut = includes.length !== written.length || written.some(hasRules);
  const readAs = textForReader(text, values, isCut ? includes : content.include);
  const file = readAs === undefined ? undefined : await realpath(join(options.dir, path));
  // A link can lead out of the checkout.
  if (readAs !== undefined && file?.startsWith(`${await realpath(options.dir)}${sep}`))
    options.changed.set(file, readAs);
  return { content, includes };
}

const hasRules = (include: unknown) => Boolean(Object(include).rules);

/** The includes of a file of whose rules one matches, or that have none, without their rules. */
async function chosenIncludes(
  name: string,
  written: readonly unknown[],
  { variables, facts }: ReadOptions,
): Promise<Written[]> {
  const includes: Written[] = [];
  for (const include of written) {
    if (hasReference(include))
      throw new PipelineError(
        `${name} cannot be read: GitLab accepts no !reference in include. Use an anchor instead.`,
      );
    const { rules, ...location } =
      typeof include === 'string' ? { [/^https?:/.test(include) ? 'remote' : 'local']: include } : Object(include);
    // The reader replaces inputs.
    if (!hasRules(include) || !isWithoutInputs(rules)) {
      includes.push({ ...location, ...(hasRules(include) && { rules }) });
      continue;
    }
    const { success, data, error } = z.array(ruleSchema).safeParse([rules].flat(9));
    if (!success) throw unreadable(`${name}: include`, error);
    if (data.some(({ changes }) => changes)) await facts.compareCommits();
    const rule = matchingRule(data, variables, facts);
    if (rule && rule.when !== 'never') includes.push(location);
  }
  return includes;
}

/**
 * Expands a definition with files of other projects and servers. The reader downloads them first; they are read as those of the
 * repository then. The order of downloads and other included files is not known, so a job that a download and another of them have is left
 * to the reader.
 */
async function expandForeign(reading: Reading, local: FileContent) {
  const { dir, changed } = reading;
  let text = expandedText(reading);
  await text.catch(() => undefined); // it may be what is changed now
  const { size } = changed;
  let downloads = await readDownloads(reading);
  if (changed.size > size) {
    // The reader has ignored some rules of includes. It downloads again what it still needs.
    if (downloads.some(({ isCut }) => isCut))
      for (const { path } of downloads) if (!changed.has(await realpath(join(dir, path)))) await rm(join(dir, path));
    text = expandedText(reading);
    await text.catch(() => undefined);
    downloads = await readDownloads(reading);
  }
  const faulty = downloads.find(({ fault }) => fault);
  if (faulty) throw faulty.fault;
  const included = [...downloads.map(({ content }) => content), local.included];
  const names = included.flatMap((content) => Object.keys(content));
  const written = Object.entries([...included, local.content].reduce(merged)).filter(
    ([name]) => NO_JOBS.includes(name) || names.indexOf(name) === names.lastIndexOf(name),
  );
  return { written: Object.fromEntries(written), text: await text };
}

async function readDownloads(reading: Reading) {
  const paths = await readdir(join(reading.dir, DOWNLOADS), { recursive: true }).catch(() => []);
  const downloads: { path: string; content: Written; isCut?: boolean; fault?: unknown }[] = [];
  for (const name of paths.filter((path) => /\.ya?ml$/.test(path))) {
    const path = join(DOWNLOADS, name);
    try {
      const { content, includes } = await readOneFile(reading, path);
      downloads.push({ path, content, isCut: includes.length < [content.include ?? []].flat().length });
    } catch (fault) {
      downloads.push({ path, content: {}, fault });
    }
  }
  return downloads;
}

/** The content of a file over that of what it includes: records of both, such as jobs, have the members of both. */
function merged(included: Written, including: Written): Written {
  const entries = Object.entries(including).map(([name, value]) => {
    const other = included[name];
    return [name, isRecord(value) && isRecord(other) ? merged(other, value) : value];
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
      if (typeof condition === 'string' && isWithoutInputs(condition)) isTrue(condition, {});
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

async function withRealOrigin<T>({ dir, request }: ReadOptions, read: () => Promise<T>): Promise<T> {
  const origin = await git(request.repository.dir, ['remote', 'get-url', 'origin']).catch(() => '');
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
async function expandedText({ dir, file, folder, variables, context, changed }: Reading): Promise<string> {
  const { env, signal } = context;
  const reader = findReader();
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      { type: 'variable', values: { '*': value.replaceAll('$', '$$$$') } },
    ]),
  );
  await mkdir(join(dir, READER_FOLDER), { recursive: true });
  await writeFile(join(dir, READER_FOLDER, 'variables.yml'), asciiJson(values), { mode: 0o600 });
  const args = [reader, '--preview', '--no-evaluate-rule-changes', '--file', file, '--home', folder.path];
  for (const path of IGNORED_SCHEMA_PATHS) args.push('--ignore-schema-paths', path);
  args.push('--state-dir', READER_FOLDER, '--variables-file', join(READER_FOLDER, 'variables.yml'));
  // The reader takes the branch of the checkout otherwise.
  if (variables.CI_COMMIT_BRANCH === undefined) args.push('--unset-variable', 'CI_COMMIT_BRANCH');
  const movedFiles = new Map<string, string>();
  const readerFiles = READER_FILES.map((name) => join(dir, name)).filter((path) => existsSync(path));
  try {
    for (const path of new Set([...readerFiles, ...changed.keys()])) {
      const aside = join(dir, READER_FOLDER, `moved-${movedFiles.size}`);
      await renameFile(path, aside);
      movedFiles.set(path, aside);
    }
    for (const [path, readAs] of changed) await writeFile(path, readAs);
    const { stdout } = await runProgram(process.execPath, args, {
      cwd: dir,
      env: { ...env, FORCE_COLOR: '0', NO_COLOR: '1', GIT_TERMINAL_PROMPT: '0', CI_BUILDS_DIR: `${folder.path}/` },
      maxBuffer: MAX_EXPANDED_BYTES,
      timeout: READER_TIMEOUT_MS,
      signal,
    }).catch((failure) => {
      signal.throwIfAborted();
      if (failure.killed && failure.signal === 'SIGTERM')
        throw new PipelineError(`${file} cannot be read within ${READER_TIMEOUT_MS / 1_000} s`);
      const isLarge = failure.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const reason = isLarge
        ? `it is larger than ${MAX_EXPANDED_BYTES} bytes when expanded`
        : complaintIn(failure.stderr);
      throw new PipelineError(`${file} cannot be read: ${reason}`);
    });
    return stdout.slice(stdout.search(/^---$/m) + 4);
  } finally {
    // Jobs find them unchanged in their checkouts.
    for (const [path, aside] of movedFiles) await renameFile(aside, path);
  }
}

/** The rules of the reader's schema that a server does not have: it accepts no tags, in place of those of `default`, and an address that begins with `${`. */
const IGNORED_SCHEMA_PATHS = [
  '#/definitions/tags/minItems',
  '#/properties/environment/oneOf/0/type',
  '#/properties/environment/oneOf/1/properties/url/pattern',
];

/** Files of a repository by which gitlab-ci-local changes a pipeline; a server ignores them. */
const READER_FILES = ['.gitlab-ci-local.yml', '.gitlab-ci-local-env'];

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
