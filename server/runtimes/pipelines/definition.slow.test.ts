import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ReadOptions, readDefinition } from './definition.ts';
import { git } from './git.ts';
import { PipelineError } from './pipeline-error.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium definition '));
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads the definition of a commit with these files. */
async function read(files: Readonly<Record<string, string>>, hasChanged: ReadOptions['hasChanged'] = () => true) {
  const dir = await mkdtemp(join(folder, 'app-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  await git(dir, ['init', '--quiet', '--initial-branch', 'main']);
  await git(dir, ['add', '--all']);
  const definition = await readDefinition({
    dir,
    repositoryDir: dir,
    folder,
    variables: {},
    hasChanged,
    env: process.env,
    signal: AbortSignal.timeout(30_000),
  });
  return { ...definition, dir };
}

/** A small file whose aliases represent millions of texts. */
const REPEATED = `.a: &a [${'abcdefghi,'.repeat(100)}]
${['b', 'c'].map((name, at) => `.${name}: &${name} [${`*${'ab'[at]},`.repeat(100)}]\n`).join('')}x: {script: echo, tags: [${'*c,'.repeat(20)}]}
`;

it.each<[string, Record<string, string>]>([
  ['.gitlab-ci.yml:2 cannot be read: it is nested', { '.gitlab-ci.yml': `\na: ${'['.repeat(1_000_000)}` }],
  ['.gitlab-ci.yml cannot be read: it has more', { '.gitlab-ci.yml': `# ${'a'.repeat(1_048_576)}` }],
  ['.gitlab-ci.yml cannot be read: Excessive alias', { '.gitlab-ci.yml': REPEATED }],
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
  ["property 'max' must be <= 2 at a.retry.max", { '.gitlab-ci.yml': 'a: {script: echo hi, retry: {max: 5}}\n' }],
  ['none.yml', { '.gitlab-ci.yml': 'include: /none.yml\na: {script: echo hi}\n' }],
  [
    '.gitlab-ci.yml:2 cannot be read: GitLab does not accept the date 2026-11-30. Put it in quotation marks.',
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
    '.gitlab-ci.yml': `default: ${defaults}\na: {script: ls}\nb: {script: ls, inherit: {default: [timeout]}}\n`,
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
    '80,443': '80443',
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
  const { jobs, dir } = await read({ '.gitlab-ci.yml': 'include: ci/a.yml\n', 'ci/a.yml': job });
  expect(Object.values(jobs.get('a')?.variables ?? {})).toEqual(Object.values(valuesBySource));
  expect(jobs.get('a')).toMatchObject({ interruptible: true });
  expect(await readFile(join(dir, 'ci/a.yml'), 'utf8')).toBe(job);
});

it('leaves out an include of whose rules none matches by its changes', async () => {
  const include = (name: string, rule: string) => `  - local: ${name}.yml\n    rules:\n      - ${rule}\n`;
  const includes = [
    include('a', 'changes:\n          - a/*\n        when: always'),
    include('b', 'changes: {paths: [b/*]}'),
    include('c', 'exists: [c.yml]\n        changes: [c/*]'),
    include('d', 'if: $NONE\n        changes: [d/*]\n      - changes: [b/*]'),
  ];
  const files = ['a', 'b', 'c', 'd'].map((name) => [`${name}.yml`, `${name}: {script: ls}\n`]);
  const checked: string[][] = [];
  const { jobs } = await read(
    { ...Object.fromEntries(files), '.gitlab-ci.yml': `include:\n${includes.join('')}x: {script: ls}\n` },
    ({ paths }) => checked.push(paths) > 0 && paths.includes('b/*'),
  );
  expect([...jobs.keys()].sort()).toEqual(['b', 'd', 'x']);
  expect(checked.flat()).toEqual(['a/*', 'b/*', 'c/*', 'b/*']);
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

it('keeps the names of single jobs of a matrix in needs and dependencies, which its reader does not know', async () => {
  const { jobs } = await read({
    '.gitlab-ci.yml': `
build: {stage: build, parallel: {matrix: [{OS: [a, b], ARCH: c}]}, script: ls}
b: {script: ls, dependencies: ["build: [b, c]"]}
c: {script: ls, needs: ["build: [a, c]", {job: "build: [b, c]", artifacts: false}, b]}
d: {script: ls, rules: [{if: $A, needs: ["build: [a, c]"]}]}
`,
  });
  expect(jobs.get('b')).toMatchObject({ dependencies: ['build: [b, c]'] });
  expect(jobs.get('c')?.needs).toMatchObject([
    { job: 'build: [a, c]' },
    { job: 'build: [b, c]', artifacts: false },
    { job: 'b' },
  ]);
  expect(jobs.get('d')?.rules).toMatchObject([{ needs: [{ job: 'build: [a, c]' }] }]);
});
