import { describe, expect, it } from 'vitest';
import type { JobDefinition } from './definition-schema.ts';
import { type PipelineSource, partOf, type RuleFacts } from './rules.ts';

const facts = (more: Partial<RuleFacts> = {}): RuleFacts => ({
  source: 'push',
  branch: 'feature/a',
  files: ['Dockerfile', 'src/main.ts'],
  compareCommits: async () => undefined,
  changed: () => ['src/main.ts'],
  changedSinceDefault: () => ['src/main.ts', 'docs/a.md'],
  hasWorkflowRules: false,
  ...more,
});
const job = (more: Partial<JobDefinition>): JobDefinition => ({ stage: 'test', variables: {}, ...more });
/** Returns the job's part in a pipeline; undefined if it has none. */
const part = (definition: Partial<JobDefinition>, { source, ...more }: Partial<RuleFacts> = {}, variables = {}) =>
  partOf(job(definition), variables, facts({ ...more, ...(source && { source }) })).part;
const joins = (...args: Parameters<typeof part>) => part(...args) !== undefined;

describe('a job with rules', () => {
  it('joins as the first matching rule says', () => {
    const rules = [
      { if: '$KIND == "none"', when: 'never' },
      { if: '$KIND == "late"', when: 'delayed', allow_failure: true, variables: { A: '1' }, needs: [{ job: 'b' }] },
      { if: '$KIND' },
    ];
    const definition = { rules, when: 'manual' };
    expect(part(definition, {}, { KIND: 'none' })).toBeUndefined();
    expect(part(definition, {}, { KIND: 'late' })).toEqual({
      when: 'delayed',
      allowFailure: true,
      variables: { A: '1' },
      needs: [{ job: 'b' }],
    });
    // A rule without `when` uses the job's own `when`, by which the job may be left out.
    expect(part(definition, {}, { KIND: 'x' })).toEqual({ when: 'manual', allowFailure: true, variables: {} });
    // A job that only its rule makes manual blocks the pipeline.
    expect(part({ rules: [{ when: 'manual' }] })).toMatchObject({ when: 'manual', allowFailure: false });
    expect(part(definition)).toBeUndefined();
    expect(part({ rules: [] })).toBeUndefined();
    expect(part({ rules: [{}], allow_failure: true })).toMatchObject({ when: 'on_success', allowFailure: true });
  });

  it('asks for all that a rule names: if, exists and changes', () => {
    const rules = [{ if: '$A', exists: { paths: ['$FILE'] }, changes: { paths: ['src/**/*'] } }];
    const givenValues = { A: '1', FILE: 'Dockerfile' };
    expect(joins({ rules }, {}, givenValues)).toBe(true);
    expect(joins({ rules }, {}, { ...givenValues, A: '' })).toBe(false);
    expect(joins({ rules }, {}, { ...givenValues, FILE: 'none' })).toBe(false);
    expect(joins({ rules }, { changed: () => ['README.md'] }, givenValues)).toBe(false);
    expect(joins({ rules }, { changed: () => true }, givenValues)).toBe(true);
    // A folder does not exist, for the server: it knows files.
    expect(joins({ rules: [{ exists: { paths: ['src'] } }] })).toBe(false);
  });

  it('compares with the commit before, or the default branch; all counts as changed where it asks for another branch', () => {
    const rules = (path: string, compare_to?: string) => ({ rules: [{ changes: { paths: [path], compare_to } }] });
    const variables = { CI_DEFAULT_BRANCH: 'main' };
    expect(joins(rules('docs/*'), {}, variables)).toBe(false);
    for (const other of ['refs/heads/main', '$CI_DEFAULT_BRANCH']) {
      expect(joins(rules('docs/*', other), {}, variables)).toBe(true);
      expect(joins(rules('none', other), {}, variables)).toBe(false);
    }
    expect(joins(rules('none', 'develop'), {}, variables)).toBe(true);
  });

  it('asks what has changed only where that decides', () => {
    const changed = () => expect.unreachable('must not be called');
    expect(joins({ rules: [{ if: '$A', changes: { paths: ['*'] } }] }, { changed })).toBe(false);
  });

  it('joins a pipeline of whatever source', () => {
    for (const source of ['push', 'merge_request_event', 'web', 'schedule'] as const)
      expect(joins({ rules: [{ when: 'on_success' }] }, { source })).toBe(true);
  });
});

describe('a job without rules', () => {
  const sources: PipelineSource[] = ['push', 'merge_request_event', 'web', 'schedule'];
  const joined = (definition: Partial<JobDefinition>, more: Partial<RuleFacts> = {}) =>
    sources.filter((source) => joins(definition, { ...more, source }, { A: '1' }));

  it.each<[string, Partial<JobDefinition>, PipelineSource[]]>([
    ['nothing said', {}, ['push', 'web', 'schedule']],
    ['only merge requests', { only: { refs: ['merge_requests'] } }, ['merge_request_event']],
    [
      'only branches or merge requests',
      { only: { refs: ['branches', 'merge_requests'] } },
      ['push', 'merge_request_event', 'web', 'schedule'],
    ],
    ['only pushes', { only: { refs: ['pushes'] } }, ['push']],
    ['only the branch', { only: { refs: ['feature/a'] } }, ['push', 'web', 'schedule']],
    ['only the branch, of whatever fork', { only: { refs: ['feature/a@group/app'] } }, ['push', 'web', 'schedule']],
    ['only another', { only: { refs: ['main'] } }, []],
    ['only a pattern', { only: { refs: ['/^FEATURE/i'] } }, ['push', 'web', 'schedule']],
    ['only tags', { only: { refs: ['tags'] } }, []],
    ['except schedules', { except: { refs: ['schedules'] } }, ['push', 'web']],
    ['except the branch', { except: { refs: ['feature/a'] } }, []],
    ['only and except', { only: { refs: ['branches'] }, except: { refs: ['web'] } }, ['push', 'schedule']],
    ['only variables, which leaves the usual refs', { only: { variables: ['$A'] } }, ['push', 'web', 'schedule']],
    ['only changes, likewise', { only: { changes: { paths: ['src/*'] } } }, ['push', 'web', 'schedule']],
  ])('%s', (_title, definition, expected) => {
    expect(joined(definition)).toEqual(expected);
  });

  it.each<[string, Partial<JobDefinition>, PipelineSource[]]>([
    ['nothing said', {}, ['push', 'merge_request_event', 'web', 'schedule']],
    ['only merge requests', { only: { refs: ['merge_requests'] } }, ['merge_request_event']],
    ['only branches', { only: { refs: ['branches'] } }, ['push', 'web', 'schedule']],
    ['only variables, which leaves the usual refs', { only: { variables: ['$A'] } }, ['push', 'web', 'schedule']],
    ['only changes, likewise', { only: { changes: { paths: ['src/*'] } } }, ['push', 'web', 'schedule']],
    [
      'only merge requests with variables',
      { only: { refs: ['merge_requests'], variables: ['$A'] } },
      ['merge_request_event'],
    ],
    ['only tags', { only: { refs: ['tags'] } }, []],
    ['except schedules', { except: { refs: ['schedules'] } }, ['push', 'merge_request_event', 'web']],
    ['except merge requests', { except: { refs: ['merge_requests'] } }, ['push', 'web', 'schedule']],
    ['except branches', { except: { refs: ['branches'] } }, ['merge_request_event']],
    ['except variables', { except: { variables: ['$A'] } }, []],
    ['only and except', { only: { refs: ['branches'] }, except: { refs: ['web'] } }, ['push', 'schedule']],
  ])('next to workflow rules: %s', (_title, definition, expected) => {
    expect(joined(definition, { hasWorkflowRules: true })).toEqual(expected);
  });

  it('is asked by `only` for all it names, and kept out by any of `except`', () => {
    const both = { refs: ['branches'], variables: ['$A == "1"'], changes: { paths: ['src/*'] } };
    expect(joins({ only: both }, {}, { A: '1' })).toBe(true);
    expect(joins({ only: both }, {}, { A: '2' })).toBe(false);
    expect(joins({ only: both }, { changed: () => [] }, { A: '1' })).toBe(false);
    expect(joins({ except: { variables: ['$A'], changes: { paths: ['none'] } } }, {}, { A: '1' })).toBe(false);
    expect(joins({ except: { variables: ['$A'], changes: { paths: ['none'] } } })).toBe(true);
  });

  it('may be left out when it is manual', () => {
    expect(part({ when: 'manual' })).toEqual({ when: 'manual', allowFailure: true, variables: {} });
    expect(part({ when: 'manual', allow_failure: false })).toMatchObject({ allowFailure: false });
  });

  it('says which pattern cannot be read', () => {
    expect(() => joins({ only: { refs: ['/(/'] } })).toThrow('the pattern /(/ is not valid');
  });
});
