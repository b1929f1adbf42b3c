import { z } from 'zod';
import { spanMs } from './time-span.ts';

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
const exists = shorthandFor('paths', z.looseObject({ paths: z.array(z.string()) }));
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

export const ruleSchema = z.looseObject({
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
  unprotect: z.boolean().optional(),
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

/** The keywords that GitLab refuses in a job that has another one. */
const EXCLUDED_BY = { rules: ['only', 'except', 'start_in'], trigger: ['script'] };

function refuseCombinations(job: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  const has = (keyword: string) => (job[keyword] ?? null) !== null;
  const refuse = (keyword: string, message: string) => context.addIssue({ code: 'custom', path: [keyword], message });
  for (const [keyword, excludedKeywords] of Object.entries(EXCLUDED_BY).filter(([name]) => has(name)))
    for (const excluded of excludedKeywords.filter(has))
      refuse(excluded, `cannot be combined with ${keyword}. Use only one of them.`);
  if (has('start_in') && job.when !== 'delayed') refuse('start_in', 'requires when: delayed');
}

/** A job after all that it extends and refers to is put in. */
export const jobSchema = z
  .looseObject({
    stage: z.string().default('test'),
    script: texts.optional(),
    before_script: texts.nullish(),
    after_script: texts.nullish(),
    image: image.nullish(),
    services: z.array(service).nullish(),
    variables,
    rules: z.array(ruleSchema).nullish(),
    only: refs.nullish(),
    except: refs.nullish(),
    when: z.string().optional(),
    allow_failure: allowFailure.optional(),
    needs: z.union([z.array(need), need.transform((singleNeed) => [singleNeed])]).nullish(),
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
  })
  .superRefine(refuseCombinations);

export const globalSchema = z.looseObject({
  stages: z.array(z.string()).default([]),
  variables,
  workflow: z.looseObject({ rules: z.array(ruleSchema).nullish(), name: z.string().optional() }).nullish(),
});

/** After which failures a job is tried again, and how often. */
export interface RetryDefinition {
  max: number;
  /** Kinds of failures, such as `script_failure`, or `always`. */
  when: readonly string[];
  exitCodes: readonly number[];
}
export type JobDefinition = z.output<typeof jobSchema>;
export type Rule = z.output<typeof ruleSchema>;
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
  /** Global keywords as they are written, of which some differ from GitLab. */
  global?: Readonly<Record<string, unknown>>;
}
