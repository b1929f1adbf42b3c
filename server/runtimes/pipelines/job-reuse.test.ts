import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cacheName, folderName } from './artifacts.ts';
import type { JobDefinition } from './definition.ts';
import { AUTHOR, git } from './git.ts';
import { JobReuse } from './job-reuse.ts';
import type { PlannedJob } from './plan.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium reuse '));
});
afterAll(() => rm(folder, { recursive: true }));

const FILES = { '.gitlab-ci.yml': 'deploy: {script: [sh ci/deploy.sh]}\n', 'a.txt': 'a\n' };
const EMPTY_RUN = { predefined: {}, ofGroup: {}, ofProject: [], typed: {} };
type Options = Parameters<JobReuse['keyOf']>[1];

interface Case {
  files?: Record<string, string>;
  definition?: Partial<JobDefinition> & Record<string, unknown>;
  job?: Partial<PlannedJob>;
  options?: Partial<Options>;
  predefined?: Record<string, string>;
}

async function place(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(folder, 'app-'));
  await write(dir, files);
  await git(dir, ['init', '--quiet', '--initial-branch', 'main']);
  await git(dir, ['add', '--all']);
  await git(dir, [...AUTHOR, 'commit', '--quiet', '-m', 'Begin']);
  return dir;
}

async function write(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
}

/** The key of a job in a commit, with the folder of its inputs. */
async function jobIn(dir: string, { definition, job, options, predefined = {} }: Case = {}) {
  const inputs = `${dir} inputs`;
  const variables = { ...EMPTY_RUN, predefined };
  const all: Options = {
    artifacts: { runDir: join(inputs, 'run'), keptDir: join(inputs, 'kept') },
    cacheDir: join(inputs, 'cache'),
    checkoutDir: dir,
    filesDir: undefined,
    hasSubmodules: false,
    platformUrls: ['http://127.0.0.1:4700', 'https://localhost:4703'],
    projectPath: 'fern-moss/shop',
    runId: 'r1',
    tracked: new Set(Object.keys(FILES)),
    variables,
    engine: { imageId: async (name) => `id of ${name}` },
    ...options,
  };
  const planned: PlannedJob = {
    name: 'test',
    base: 'test',
    stage: 'test',
    when: 'on_success',
    allowFailure: false,
    variables: {},
    ownVariables: {},
    node: { total: 1 },
    needs: undefined,
    artifactsOf: ['build'],
    decision: undefined,
    resourceGroup: undefined,
    ...job,
    definition: { stage: 'test', variables: {}, image: { name: 'a:1' }, script: ['make test'], ...definition },
  };
  // What is not asked for anything here.
  const platform = Object.create(null);
  const checkout = { dir, sha: '', baseSha: '', commit: { title: '', message: '', timestamp: '', author: '' } };
  const reuse = new JobReuse({
    platform,
    checkout: { ...checkout, submodules: [], lfsPointers: [] },
    definitionFiles: ['.gitlab-ci.yml'],
    isAsked: true,
  });
  return { key: await reuse.keyOf(planned, all), inputs };
}

it.each<[string, Case]>([
  ['without an image', { definition: { image: null } }],
  ['without an engine', { options: { engine: { absence: '--shell is set' } } }],
  ['whose image is not on this machine', { options: { engine: { imageId: async () => undefined } } }],
  ['with services', { definition: { services: [{ name: 'postgres' }] } }],
  ['with an environment', { definition: { environment: { name: 'review' } } }],
  ['with a release', { definition: { release: { tag_name: 'v1' } } }],
  ['with pages', { definition: { pages: true } }],
  ['named pages', { job: { base: 'pages' } }],
  ['of a resource group', { definition: { resource_group: 'one' } }],
  ['with secrets', { definition: { secrets: { A: {} } } }],
  ['with a token', { definition: { id_tokens: { A: {} } } }],
  ['that is manual', { job: { when: 'manual' } }],
  ['that is delayed', { job: { when: 'delayed' } }],
  ['that handles failures', { job: { when: 'on_failure' } }],
  ['that calls Docker', { definition: { script: ['docker build .'] } }],
  ['whose script reads the number of the run', { definition: { script: ['echo $CI_PIPELINE_IID'] } }],
  ['whose script reads its token', { definition: { after_script: ['curl -H "JOB-TOKEN: $CI_JOB_TOKEN" x'] } }],
  ['that prints all variables', { definition: { script: ['env | sort > env.txt'] } }],
  ['that exports all variables', { definition: { script: ['export -p'] } }],
  ['that reaches this machine by name', { definition: { script: ['wget http://host.containers.internal:4701/'] } }],
  ['whose files read its number', { files: { 'ci/test.sh': 'echo $CI_JOB_ID\n' } }],
  [
    'that names a file that reads the key',
    { files: { 'ci/deploy.sh': 'echo $PLATFORM_API_KEY\n' }, definition: { script: ['sh ci/deploy.sh'] } },
  ],
  [
    'of a commit where another file names a file that reads the key',
    { files: { 'ci/deploy.sh': 'echo $PLATFORM_API_KEY\n', Makefile: 'test:\n\tsh ci/deploy.sh\n' } },
  ],
  ['of a platform that is reached directly', { options: { platformUrls: ['http://10.0.0.1:4700'] } }],
  ['with submodules', { options: { hasSubmodules: true }, predefined: { GIT_SUBMODULE_STRATEGY: 'recursive' } }],
  ['whose cache depends on what it makes', { definition: { cache: [{ key: { files: ['made.lock'] } }] } }],
])('a job %s always runs', async (_which, one) => {
  const { key } = await jobIn(await place({ ...FILES, ...one.files }), one);
  expect(key).toBeUndefined();
});

it.each<[string, Case]>([
  ['another image of the same name', { options: { engine: { imageId: async () => 'another' } } }],
  ['another image', { definition: { image: { name: 'b:1' } } }],
  ['another script', { definition: { script: ['make check'] } }],
  ['other artifacts', { definition: { artifacts: { paths: ['out'] } } }],
  ['another name', { job: { name: 'check' } }],
  ['another value of a variable', { predefined: { CI_COMMIT_SHA: 'b'.repeat(40) } }],
  ['another value that has the number of the run', { job: { variables: { A: { value: '7', isRaw: false } } } }],
])('a job with %s has other inputs', async (_which, one) => {
  const dir = await place(FILES);
  const { key } = await jobIn(dir);
  expect(key).toMatch(/^\w{64}$/);
  const other = await jobIn(dir, one);
  expect(other.key).toMatch(/^\w{64}$/);
  expect(other.key).not.toBe(key);
});

it('variables that differ in each run do not count, and files that only other jobs name', async () => {
  const dir = await place({ ...FILES, 'ci/deploy.sh': 'echo $PLATFORM_API_KEY\n', 'README.md': 'CI_JOB_ID\n' });
  const { key } = await jobIn(dir, { predefined: { CI_PIPELINE_ID: '1', CI_JOB_TOKEN: 'a' } });
  expect(key).toMatch(/^\w{64}$/);
  const { key: same } = await jobIn(dir, { predefined: { CI_PIPELINE_ID: '2', CI_JOB_TOKEN: 'b' } });
  expect(same).toBe(key);
});

it('what other jobs left, caches, branches of the checkout and values of files count', async () => {
  const dir = await place(FILES);
  const cache: JobDefinition['cache'] = [{ key: { files: ['a.txt'] }, paths: ['node_modules'] }];
  const values = {};
  const name = await cacheName({ key: { files: ['a.txt'] } }, 0, { workDir: dir, values });
  const filesDir = `${dir} inputs/files`;
  const one: Case = { definition: { cache }, options: { filesDir } };
  const keys = [(await jobIn(dir, one)).key];
  const change = async (files: Readonly<Record<string, string>>) => {
    await write(`${dir} inputs`, files);
    keys.push((await jobIn(dir, one)).key);
  };
  await change({ [`kept/${folderName('build')}/out.txt`]: 'one' });
  await change({ [`run/${folderName('build')}/out.txt`]: 'two' });
  await change({ [`run/${folderName('build')}/.terrarium-dotenv/a.env`]: 'A=1' });
  await change({ [`cache/${name}/node_modules/a.js`]: '1' });
  await change({ [`cache/${name}/node_modules/a.js`]: '2' });
  await change({ 'files/0/KEY': 'secret' });
  await git(dir, ['update-ref', 'refs/remotes/origin/main', 'HEAD']);
  await change({});
  expect(keys).not.toContain(undefined);
  expect(new Set(keys).size).toBe(keys.length);
  await change({});
  expect(keys.at(-1)).toBe(keys.at(-2));
});
