import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { READER_FOLDER, readDefinition } from './definition.ts';
import { git } from './git.ts';
import { findingsIn } from './keywords.ts';
import { PipelineError } from './pipeline-error.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium definition '));
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads the definition of a commit with these files. @param changed files that it has changed; true for all */
async function read(files: Readonly<Record<string, string>>, changed: string[] | true = true) {
  const dir = await mkdtemp(join(folder, 'app-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  await git(dir, ['init', '--quiet', '--initial-branch', 'main']);
  await git(dir, ['add', '--all']);
  // A child pipeline's definition can be there.
  const readerFolder = join(dir, READER_FOLDER);
  await mkdir(readerFolder);
  let isCompared = false;
  const facts = {
    files: Object.keys(files),
    async compareCommits() {
      isCompared = true;
    },
    changed: () => changed,
    changedSinceDefault: () => changed,
  };
  const definition = await readDefinition({
    request: { repository: { dir } },
    context: { env: process.env, signal: new AbortController().signal },
    folder: { path: folder },
    dir,
    variables: {},
    facts,
  }).finally(() => expect(existsSync(readerFolder)).toBe(false));
  return { ...definition, dir, isCompared };
}

/** A small file whose aliases represent millions of texts. */
const REPEATED = `.a: &a [${'abcdefghi,'.repeat(100)}]
${['b', 'c'].map((name, at) => `.${name}: &${name} [${`*${'ab'[at]},`.repeat(100)}]\n`).join('')}x: {script: echo, tags: [${'*c,'.repeat(20)}]}
`;

it.each<[string, Record<string, string>]>([
  ['.gitlab-ci.yml:2 cannot be read: it is nested', { '.gitlab-ci.yml': `\na: ${'['.repeat(1_000_000)}` }],
  ['.gitlab-ci.yml cannot be read: it has more', { '.gitlab-ci.yml': `# ${'a'.repeat(1_048_576)}` }],
  ['.gitlab-ci.yml:3 cannot be read: its aliases expand to more', { '.gitlab-ci.yml': REPEATED }],
  [
    '.gitlab-ci.yml:3 cannot be read: its aliases expand to more than 16777216 characters',
    { '.gitlab-ci.yml': `.a: &a ${'a'.repeat(900_000)}\n\nx: {script: [${'*a,'.repeat(600)}]}\n` },
  ],
  ['none not found for a', { '.gitlab-ci.yml': 'a: {script: echo hi, stage: none}\n' }],
  ['a must have script', { '.gitlab-ci.yml': 'a: {image: x}\n' }],
  ['none', { '.gitlab-ci.yml': 'a: {script: echo hi, needs: [none]}\n' }],
  [
    ".gitlab-ci.yml: rule 2 of 'a': the condition `$A ==` is not valid at character 6: a value is missing",
    { '.gitlab-ci.yml': 'a: {script: echo hi, rules: [{if: $A}, {if: "$A =="}]}\n' },
  ],
  [
    "ci/more.yml: rule 2 of '.b': the condition `$A & $B`",
    {
      '.gitlab-ci.yml': 'include: ci/more.yml\na: {script: echo hi, extends: .b}\n',
      'ci/more.yml': '.b: {rules: [!reference [.c, rules], {if: $A & $B}]}\n.c: {rules: [{if: $A}]}\n',
    },
  ],
  ["rule 1 of 'workflow'", { '.gitlab-ci.yml': 'workflow: {rules: [{if: "($A"}]}\na: {script: echo hi}\n' }],
  [
    "rule 1 of 'include'",
    { '.gitlab-ci.yml': 'include: [{local: b.yml, rules: [{if: "($A"}]}]\na: {script: echo hi}\n', 'b.yml': 'b: 1\n' },
  ],
  [
    "condition 1 of 'only:variables' of 'a'",
    { '.gitlab-ci.yml': 'a: {script: echo hi, only: {variables: ["$A ="]}}\n' },
  ],
  ["job 'a' cannot be read: timeout is not a duration", { '.gitlab-ci.yml': 'a: {script: echo hi, timeout: soon}\n' }],
  [
    "job 'a' cannot be read: start_in is not a duration",
    { '.gitlab-ci.yml': 'a: {script: echo hi, when: delayed, start_in: later}\n' },
  ],
  [
    "job 'a' cannot be read: only cannot be combined with rules",
    {
      '.gitlab-ci.yml': 'a: {extends: .b, script: echo hi, rules: [{when: always}]}\n.b: {only: [main]}\n',
    },
  ],
  [
    "job 'a' cannot be read: script cannot be combined with trigger",
    { '.gitlab-ci.yml': 'a: {script: echo hi, trigger: {include: b.yml}}\n', 'b.yml': 'b: {script: ls}\n' },
  ],
  [
    "job 'a' cannot be read: start_in requires when: delayed",
    { '.gitlab-ci.yml': 'a: {script: echo hi, start_in: 3 minutes}\n' },
  ],
  [".gitlab-ci.yml: 'foo' is neither a keyword nor a job", { '.gitlab-ci.yml': 'foo: bar\na: {script: echo hi}\n' }],
  [
    "job 'a' cannot be read: image.name is required",
    { '.gitlab-ci.yml': 'a: {script: echo hi, image: {entrypoint: [sh]}}\n' },
  ],
  [
    "job 'a' cannot be read: rules.0.exists.paths must be an array",
    { '.gitlab-ci.yml': 'a: {script: echo hi, rules: [{exists: Dockerfile}]}\n' },
  ],
  ["property 'max' must be <= 2 at a.retry.max", { '.gitlab-ci.yml': 'a: {script: echo hi, retry: {max: 5}}\n' }],
  [
    ".gitlab-ci.yml: job 'a' has the keyword run, but steps are not run",
    { '.gitlab-ci.yml': 'a: {run: [{name: b, script: ls}]}\n' },
  ],
  ['none.yml', { '.gitlab-ci.yml': 'include: /none.yml\na: {script: echo hi}\n' }],
  [
    '.gitlab-ci.yml:2:18 cannot be read: GitLab does not accept the date 2026-11-30. Put it in quotation marks.',
    { '.gitlab-ci.yml': 'a: {script: echo hi}\nvariables: {DAY: 2026-11-30}\n' },
  ],
  ['.gitlab-ci.yml:2:1 is not valid YAML', { '.gitlab-ci.yml': 'ci: [a\nb: {\n' }],
  ['future stage', { '.gitlab-ci.yml': 'a: {script: echo hi, stage: build, needs: [b]}\nb: {script: echo hi}\n' }],
  [
    'future stage',
    { '.gitlab-ci.yml': 'a: {script: echo hi, stage: build, dependencies: [b]}\nb: {script: echo hi}\n' },
  ],
  [
    'b: circular dependency detected in `extends`',
    { '.gitlab-ci.yml': 'a: {extends: b, script: echo hi}\nb: {extends: a}\n' },
  ],
  ['a: circular dependency detected in `extends`', { '.gitlab-ci.yml': 'a: {extends: a, script: echo hi}\n' }],
  [
    'nested includes',
    { '.gitlab-ci.yml': 'include: ci/more.yml\n', 'ci/more.yml': 'include: ci/more.yml\na: {script: echo hi}\n' },
  ],
  [
    '!reference',
    { '.gitlab-ci.yml': 'a: {script: [!reference [b, script]]}\nb: {script: [!reference [a, script]]}\n' },
  ],
  [
    '.gitlab-ci.yml cannot be read: GitLab accepts no !reference in include. Use an anchor instead.',
    {
      '.gitlab-ci.yml': `include: [{local: b.yml, rules: [{changes: !reference [.a, paths]}]}]\n.a: {paths: [x]}\na: {script: echo hi}\n`,
      'b.yml': 'b: {script: ls}\n',
    },
  ],
  [
    'Component include could not be fetched',
    { '.gitlab-ci.yml': 'include: [{component: gitlab.example/a/b/c@main}]\n', 'templates/c.yml': 'c: [' },
  ],
  [
    ".gitlab-ci.yml:1 cannot be read: the alias '*n' has no complete anchor before it",
    { '.gitlab-ci.yml': 'include: &n [*n]\n' },
  ],
  [
    ".gitlab-ci.yml:1 cannot be read: the alias '*a' has no complete anchor before it",
    { '.gitlab-ci.yml': 'a: &a {x: *a, x: 1, script: ls}\n' },
  ],
  [
    ".gitlab-ci.yml:2 cannot be read: the alias '*a' has no complete anchor before it",
    { '.gitlab-ci.yml': 'b: &a ls\na: &a {x: *a, x: 1, script: ls}\n' },
  ],
  ['ci/more.yml:3:', { '.gitlab-ci.yml': 'include: ci/more.yml\n', 'ci/more.yml': 'a:\n  script: [\nb: 1\n' }],
])('%s is said of a definition that is wrong there, in one line', async (where, files) => {
  const failure = await read(files).catch((thrown) => thrown);
  expect(failure).toBeInstanceOf(PipelineError);
  expect(failure.message).toContain(where);
  expect(failure.message).not.toMatch(/\n|\[#/);
});

it('has the keywords of `default` in each job that inherits them', async () => {
  const defaults =
    '{hooks: {pre_get_sources_script: [ls]}, id_tokens: {TOKEN: {aud: x}}, interruptible: true, tags: [large], timeout: 1h}';
  const { jobs } = await read({
    '.gitlab-ci.yml': `default: ${defaults}\na: {script: ls}\nb: {script: ls, inherit: {default: [timeout]}}\nc:\n  script: ls\n  inherit:\n    default:\n    - id_tokens\n    - tags\n`,
  });
  expect(jobs.get('a')).toMatchObject({
    hooks: {},
    id_tokens: { TOKEN: {} },
    interruptible: true,
    tags: ['large'],
    timeout: '1h',
  });
  expect(jobs.get('b')).toMatchObject({ timeout: '1h' });
  expect(jobs.get('b')).not.toHaveProperty('id_tokens');
  expect(jobs.get('c')).toMatchObject({ id_tokens: { TOKEN: {} }, tags: ['large'] });
  expect(jobs.get('c')).not.toHaveProperty('timeout');
});

it('reads words and numbers as YAML 1.1 says, as on GitLab, and leaves the files as they are', async () => {
  const valuesBySource = {
    yes: 'true',
    On: 'true',
    off: 'false',
    true: 'true',
    '012': '10',
    '08': '08',
    '0o14': '0o14',
    '0x1F': '31',
    '12:30': '45000',
    '1:02:03': '3723',
    '1_000': '1000',
    '881234567890123457': '881234567890123457',
    '-9_007_199_254_740_993': '-9007199254740993',
    '80,443': '80443',
    '-0777_777_777_777_777_777_777_777': '-4722366482869645213695',
    '+0xFFFFFFFFFFFFFFFFF': '295147905179352825855',
    '0b101': '5',
    '1234e5': '1234e5',
    '1.0': '1.0',
    '1.10': '1.1',
    '0': '0',
    '3.7.1': '3.7.1',
    "'no'": 'no',
    n: 'n',
    '!!str yes': 'yes',
  };
  const names = Object.keys(valuesBySource).map((source, at) => `V${at}: ${source}`);
  const job = `a:\n  script: ls\n  interruptible: yes\n  variables:\n    ${names.join('\n    ')}\n`;
  for (const include of ['ci/a.yml', '/ci/*.yml', 'c**.yml', '$NO/ci/a.yml']) {
    const { jobs, dir, isCompared } = await read({ '.gitlab-ci.yml': `include: ${include}\n`, 'ci/a.yml': job });
    expect(Object.values(jobs.get('a')?.variables ?? {})).toEqual(Object.values(valuesBySource));
    expect(jobs.get('a')).toMatchObject({ interruptible: true });
    expect(await readFile(join(dir, 'ci/a.yml'), 'utf8')).toBe(job);
    expect(isCompared).toBe(false);
  }
});

it('leaves out an include of whose rules none matches, also if aliases give them, and reads none of its files', async () => {
  const include = (name: string, rule: string) => `  - local: ${name}.yml\n    rules:\n      - ${rule}\n`;
  const includes = [
    include('a', 'changes:\n          - a/*\n        when: always'),
    include('b', 'changes: &paths {paths: [b/*]}'),
    include('c', 'exists: [c.yml]\n        changes: [c/*]'),
    include('d', 'if: $NONE\n        changes: [d/*]\n      - &rule {changes: [b/*]}'),
    include('e', 'changes: *paths'),
    include('f', '*rule\n      - when: never'),
    include('g', '{<<: *rule, exists: [none]}'),
    include('h', 'exists: [*name]'),
    include('i', 'if: $NONE == null\n        when: never\n      - *rule'),
    include('j', 'if: $NONE || !$NONE'),
  ];
  const jobsIn = (name: string) => [`${name}.yml`, 'acgi'.includes(name) ? '[' : `${name}: {script: ls}\n`];
  const files = Object.fromEntries([...'abcdefghij'].map(jobsIn));
  const definition = `.name: &name h.yml\ninclude:\n${includes.join('')}x: {script: ls, rules: [*rule]}\n`;
  const { jobs, isCompared } = await read({ ...files, '.gitlab-ci.yml': definition }, ['b/x']);
  expect([...jobs.keys()].sort()).toEqual(['b', 'd', 'e', 'f', 'h', 'j', 'x']);
  expect(jobs.get('x')?.rules).toMatchObject([{ changes: { paths: ['b/*'] } }]);
  expect(isCompared).toBe(true);
  const json = { include: [{ local: 'a.yml', rules: [{ if: '$NONE' }] }], x: { script: 'ls' } };
  const read2 = await read({ ...files, '.gitlab-ci.yml': JSON.stringify(json) });
  expect([[...read2.jobs.keys()], read2.isCompared]).toEqual([['x'], false]);
});

it('has the members of images, services and caches that its reader leaves out', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `
default:
  image: {name: a, pull_policy: always}
  services: [b, {name: c, pull_policy: always}]
a: {script: ls, cache: {key: k, paths: [x], fallback_keys: [j]}}
.b: {image: {name: d, docker: {user: e, platform: f}}}
b: {extends: .b, script: ls, services: [], cache: [{untracked: true}]}
`,
  });
  expect(jobs.get('a')).toMatchObject({
    image: { name: 'a', pull_policy: ['always'] },
    services: [{ name: 'b' }, { name: 'c', pull_policy: 'always' }],
    cache: [{ key: 'k', fallback_keys: ['j'] }],
  });
  expect(jobs.get('b')).toMatchObject({
    image: { docker: { user: 'e', platform: 'f' } },
    cache: [{ untracked: true }],
  });
  expect(jobs.get('b')?.image).not.toHaveProperty('pull_policy');
});

it('has the keywords that its reader refuses', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `
default: {tags: [large]}
a:
  script: ls
  tags: []
  artifacts:
    public: false
    reports:
      coverage_fuzzing:
        - x
      junit: y
b: {artifacts: {paths: [z], public: true}, dast_configuration: {site_profile: x}, script: ls}
.kept: &kept {paths: [w], public: false}
c: {artifacts: *kept, script: ls}
d: {artifacts: {<<: *kept, expire_in: 1 day}, script: ls}
`,
  });
  expect(jobs.get('a')).toMatchObject({
    tags: [],
    artifacts: { public: false, reports: { coverage_fuzzing: ['x'], junit: ['y'] } },
  });
  expect(jobs.get('b')?.artifacts).toEqual({ paths: ['z'], public: true });
  expect(jobs.get('c')?.artifacts).toEqual({ paths: ['w'], public: false });
  expect(jobs.get('d')?.artifacts).toEqual({ paths: ['w'], public: false, expire_in: '1 day' });
});

it('has as many aliases of an anchor as a large project has jobs', async () => {
  const names = Array.from({ length: 150 }, (_, index) => `job-${index}`);
  const definition = names.map((name) => `${name}: {script: ls, rules: *always}\n`).join('');
  const { jobs } = await read({ '.gitlab-ci.yml': `.rules: &always [{when: always}]\n${definition}` });
  expect([...jobs.keys()]).toEqual(names);
});

it('keeps the names of single parallel jobs in needs and dependencies, which its reader does not know', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `
include: part.yml
build: {stage: build, parallel: {matrix: [{OS: [a, b], ARCH: c}]}, script: ls}
b: {script: ls, dependencies: ["build: [b, c]"]}
c: {script: ls, needs: ["build: [a, c]", {job: "build: [b, c]", artifacts: false}, b]}
d: {script: ls, rules: [{if: $A, needs: ["build: [a, c]"]}]}
shard: {stage: build, parallel: 2, script: ls}
e: {script: ls, needs: [shard 2/2, part 1/2, constructor 1/2]}
`,
    'part.yml': 'part 1/2: {stage: build, script: ls}\nconstructor 1/2: {stage: build, script: ls}\n',
  });
  expect(jobs.get('b')).toMatchObject({ dependencies: ['build: [b, c]'] });
  expect(jobs.get('c')?.needs).toMatchObject([
    { job: 'build: [a, c]' },
    { job: 'build: [b, c]', artifacts: false },
    { job: 'b' },
  ]);
  expect(jobs.get('d')?.rules).toMatchObject([{ needs: [{ job: 'build: [a, c]' }] }]);
  expect(jobs.get('e')?.needs).toEqual([{ job: 'shard 2/2' }, { job: 'part 1/2' }, { job: 'constructor 1/2' }]);
});

it('takes only needs for needs: not the commands of a job named so, nor a variable, but a list that is elsewhere', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `
.parents: &parents ["build: [a]"]
.none: &none {}
build: {<<: *none, stage: build, parallel: {matrix: [{OS: [a, b]}]}, script: ls}
needs: {script: ["echo: [a]"], needs: *parents}
dependencies: {script: ls, variables: {needs: "x: [y]"}, rules: [{if: $A, needs: *parents, variables: {needs: "x: [y]"}}]}
`,
  });
  expect(jobs.get('needs')).toMatchObject({ script: ['echo: [a]'], needs: [{ job: 'build: [a]' }] });
  expect(jobs.get('dependencies')?.variables).toEqual({ needs: 'x: [y]' });
  expect(jobs.get('dependencies')?.rules).toMatchObject([
    { needs: [{ job: 'build: [a]' }], variables: { needs: 'x: [y]' } },
  ]);
});

it('keeps a need of another pipeline, which its reader cannot read', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `.b: {needs: {pipeline: "other/flow"}}
a:
  needs:
    pipeline: other/project
  script: ls
b: {extends: .b, script: ls}
`,
  });
  expect(jobs.get('a')?.needs).toEqual([{ pipeline: 'other/project' }]);
  expect(jobs.get('b')?.needs).toEqual([{ pipeline: 'other/flow' }]);
});

it('has the needs of a job and of its rules whose lists or elements are references', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `include: ci/*.yml
build: {stage: build, parallel: {matrix: [{OS: [a, b]}]}, script: ls}
lint: {stage: build, script: ls}
.both: {rules: [{if: $A, needs: !reference [.lists, one]}, {when: always}]}
a: {script: ls, needs: !reference [lists, needs], rules: !reference [.both, rules]}
b: {script: ls, needs: [lint, !reference [.child, needs]], rules: [{if: $A}, !reference [.both, rules], {needs: []}]}
`,
    'ci/lists.yml': `.lists: {one: ["build: [b]"]}
lists: {script: ls, needs: [lint, "build: [a]"]}
.child: {extends: lists}
`,
  });
  expect(jobs.get('a')?.needs).toEqual([{ job: 'lint' }, { job: 'build: [a]' }]);
  expect(jobs.get('a')?.rules).toEqual([{ if: '$A', needs: [{ job: 'build: [b]' }] }, { when: 'always' }]);
  expect(jobs.get('b')?.needs).toEqual([{ job: 'lint' }, { job: 'lint' }, { job: 'build: [a]' }]);
  expect(jobs.get('b')?.rules).toMatchObject([
    {},
    { needs: [{ job: 'build: [b]' }] },
    { when: 'always' },
    { needs: [] },
  ]);
});

/** Starts a server of files, by their paths. Resolves to its address. */
async function serve(files: Readonly<Record<string, string>>): Promise<string> {
  const server = createServer((request, response) => response.end(files[request.url ?? ''])).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each<[string, Record<string, string>, string[]]>([
  [
    'of two included files',
    {
      '.gitlab-ci.yml': 'include: [a.yml, b.yml]\n',
      'a.yml': 't: {needs: [x], script: ls}\n',
      'b.yml': 't: {tags: [t]}\n',
    },
    ['x'],
  ],
  [
    'of a file that an input names',
    {
      '.gitlab-ci.yml': 'include: {local: a.yml, inputs: {name: b}}\nt: {script: ls}\n',
      'a.yml': 'spec: {inputs: {name: {}}}\n---\ninclude: $[[ inputs.name ]].yml\n',
      'b.yml': 't: {needs: [x]}\n',
    },
    ['x'],
  ],
  [
    'that refer to such a file',
    {
      '.gitlab-ci.yml':
        'include: {local: a.yml, inputs: {name: b}}\nt: {script: ls, needs: [y, !reference [.n, needs]]}\n',
      'a.yml': 'spec: {inputs: {name: {}}}\n---\ninclude: $[[ inputs.name ]].yml\n',
      'b.yml': '.n: {needs: [x]}\n',
    },
    ['y', 'x'],
  ],
  [
    'of a download after a file of the repository',
    {
      '.gitlab-ci.yml': 'include: [l.yml, URL/a.yml]\n',
      'l.yml': 't: {needs: [y], script: ls}\n',
      '/a.yml': 't: {needs: [x]}\n',
    },
    ['x'],
  ],
  [
    'of the last download',
    {
      '.gitlab-ci.yml': 'include: [URL/a.yml, URL/b.yml]\n',
      '/a.yml': 't: {needs: [x], script: ls}\n',
      '/b.yml': 't: {needs: [y]}\n',
    },
    ['y'],
  ],
  [
    'of the file over those of a download',
    {
      '.gitlab-ci.yml': 'include: URL/a.yml\nt: {needs: ["m: [b]"]}\n',
      '/a.yml': 'm: {stage: build, parallel: {matrix: [{A: [a, b]}]}, script: ls}\nt: {needs: [x], script: ls}\n',
    },
    ['m: [b]'],
  ],
  [
    'of an include with empty rules',
    { '.gitlab-ci.yml': 'include: {local: a.yml, rules: }\n', 'a.yml': 't: {needs: [x], script: ls}\n' },
    ['x'],
  ],
  [
    'of a download, without those that its rules leave out',
    {
      '.gitlab-ci.yml': 'include: URL/a.yml\n',
      '/a.yml': 'include: [{remote: URL/b.yml, rules: [{changes: [none]}]}, URL/c.yml]\nt: {script: ls}\n',
      '/b.yml': 't: {needs: [2026-11-30]}\n',
      '/c.yml': 't: {needs: [x]}\n',
    },
    ['x'],
  ],
  [
    'of a reference with an alias, and of an alias of the reference',
    {
      '.gitlab-ci.yml':
        '.k: &k .n\n.n: {needs: [x]}\n.t: {needs: &r !reference [*k, needs]}\nt: {script: ls, needs: [*r, y]}\n',
    },
    ['x', 'y'],
  ],
])('has the needs %s', async (_, files, needs) => {
  const served: Record<string, string> = {};
  const url = await serve(served);
  const all = Object.entries(files).map(([path, text]) => [path, text.replaceAll('URL', url)] as const);
  Object.assign(served, Object.fromEntries(all));
  const local = Object.fromEntries(all.filter(([path]) => !path.startsWith('/')));
  local['.gitlab-ci.yml'] += 'x: {script: ls, stage: build}\ny: {script: ls, stage: build}\n';
  const { jobs } = await read(local, []);
  expect(jobs.get('t')?.needs?.map(({ job }) => job)).toEqual(needs);
});

it('reads files of other servers as those of the repository, and says where they are wrong', async () => {
  const url = await serve({
    '/a.yml': 'a: {script: ls, interruptible: yes, variables: {ON: on, PORT: 012}}\n',
    '/b.yml': 'b:\n  variables: {DAY: 2026-11-30}\n',
  });
  const { jobs } = await read({ '.gitlab-ci.yml': `include: ${url}/a.yml\nb: {extends: a, script: ls}\n` });
  expect(jobs.get('b')).toMatchObject({ interruptible: true, variables: { ON: 'true', PORT: '10' } });
  await expect(read({ '.gitlab-ci.yml': `include: {remote: ${url}/b.yml}\n` })).rejects.toThrow(
    /^127\.0\.0\.1:\d+\/b\.yml:2:20 cannot be read: GitLab does not accept the date 2026-11-30\./,
  );
});

it('has the global keywords that differ from GitLab, and no variable of that name', async () => {
  const url = await serve({ '/a.yml': 'b: {script: ls}\n' });
  const { global } = await read({
    'b.yml': `include: ${url}/a.yml\n`,
    '.gitlab-ci.yml': `include: [b.yml, {template: c.yml, rules: [{if: $NONE}]}]
workflow: {name: x, auto_cancel: {on_job_failure: all}}
variables: {A: {value: x, options: [x, y]}}
a: {script: ls}
`,
  });
  const names = ['include:remote', 'variables:options', 'workflow:auto_cancel', 'workflow:name'];
  expect(findingsIn([], global).map(({ name }) => name)).toEqual(names);
  const plain = await read({ '.gitlab-ci.yml': 'variables: {options: x, value: y}\na: {script: ls}\n' });
  expect(findingsIn([], plain.global)).toEqual([]);
});

it('reads conditions and rules of includes of which inputs are a part', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': 'include: {local: a.yml, inputs: {rule: $A == "b"}}\n',
    'a.yml': 'spec: {inputs: {rule: {}}}\n---\na: {script: ls, rules: [{if: "$[[ inputs.rule ]]"}]}\n',
  });
  expect(jobs.get('a')?.rules).toEqual([{ if: '$A == "b"' }]);
});

it('reads a global variable that has only a description, or no value, as an empty text', async () => {
  const definition = 'variables: {A: {description: x}, B: {value: , options: [a]}, C: }\na: {script: ls}\n';
  expect((await read({ '.gitlab-ci.yml': definition })).variables).toEqual({ A: '', B: '', C: '' });
});

it('has the value that another file gives a global variable', async () => {
  const { variables } = await read({
    '.gitlab-ci.yml': 'include: [a.yml, b.yml]\nvariables: {A: {options: [x, y]}}\nc: {script: ls}\n',
    'a.yml': 'variables: {A: {value: x, description: d}, B: {value: y}}\n',
    'b.yml': 'variables: {B: {description: d}, C: {description: d}}\n',
  });
  expect(variables).toEqual({ A: 'x', B: 'y', C: '' });
});

it('has a job that inherits some global variables where there are none', async () => {
  for (const none of ['', 'variables:\n']) {
    const { jobs } = await read({ '.gitlab-ci.yml': `${none}a: {script: ls, inherit: {variables: [A]}}\n` });
    expect(jobs.get('a')?.inherit).toEqual({ variables: ['A'] });
  }
});

it('has as texts the numbers of which only its reader knows that they are some', async () => {
  const texts = ['1__0', '1_2e3', '0o1_7', '-0o17'];
  const variables = texts.map((text, at) => `V${at}: ${text}`).join(', ');
  const definition = await read({ '.gitlab-ci.yml': `variables: {${variables}}\na: {script: ls}\n` });
  expect(Object.values(definition.variables)).toEqual(texts);
});

it('reads only the first document of a file without a header, as the server does', async () => {
  for (const rest of ['', 'b: {script: ls}\n']) {
    const { variables, jobs } = await read({ '.gitlab-ci.yml': `variables: {A: yes}\na: {script: ls}\n---\n${rest}` });
    expect([variables, ...jobs.keys()]).toEqual([{ A: 'true' }, 'a']);
  }
});

it('has an address of an environment that begins with a variable in braces', async () => {
  const { jobs } = await read({ '.gitlab-ci.yml': `a: {script: ls, environment: {name: x, url: "\${APP_URL}/y"}}\n` });
  expect(jobs.get('a')?.environment).toEqual({ name: 'x', url: `\${APP_URL}/y` });
});

it('has the keys of a merge over those above it, as on GitLab', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `
.a: &a {stage: build, variables: &a-variables {A: a, B: a}}
.b: &b {stage: deploy, timeout: 1h}
above: {stage: test, script: ls, <<: *a, variables: {B: b, <<: *a-variables}}
below: {<<: *a, script: ls, stage: test}
list: {timeout: 2h, script: ls, <<: [*a, *b]}
here: {stage: test, script: ls, <<: &c {stage: build}}
there: {script: ls, <<: *c}
`,
  });
  expect(jobs.get('above')).toMatchObject({ stage: 'build', variables: { A: 'a', B: 'a' } });
  expect(jobs.get('below')).toMatchObject({ stage: 'test', variables: { A: 'a', B: 'a' } });
  expect(jobs.get('list')).toMatchObject({ stage: 'build', timeout: '1h', variables: { A: 'a' } });
  expect([jobs.get('here')?.stage, jobs.get('there')?.stage]).toEqual(['build', 'build']);
});
