import { createHash } from 'node:crypto';
import type { JobDefinition } from './definition-schema.ts';
import { asVariables, expandText, type RunVariables, type Variables, valuesOf } from './job-variables.ts';

const MAX_ENVIRONMENT_SLUG = 24;

interface JobIdentity {
  name: string;
  stage: string;
  node: { index?: number; total: number };
}

/** The end of a name by which jobs of one group differ: the values of a matrix, or a number of a total. */
const GROUP_PART = /(?:[\s:]{1,9}(?:\[[^[\]]*\]|\d{1,9}[\s:/\\]{1,9}\d{1,9}))+\s*$/;

/** The variables that say which job of a pipeline it is. */
export function identityOf({ name, stage, node }: JobIdentity): Readonly<Record<string, string>> {
  return {
    CI_JOB_NAME: name,
    CI_JOB_GROUP_NAME: name.replace(GROUP_PART, ''),
    CI_JOB_NAME_SLUG: name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, ''),
    CI_JOB_STAGE: stage,
    CI_NODE_TOTAL: String(node.total),
    ...(node.index !== undefined && { CI_NODE_INDEX: String(node.index) }),
  };
}

/** The values of a job's variables, and, for a job with an environment, of those of its environment, with the name that it gets. */
export function valuesInEnvironment(
  run: RunVariables,
  ofJob: Readonly<Record<string, string>>,
  jobVariables: Variables,
  environment: JobDefinition['environment'],
): { values: Record<string, string>; name?: string } {
  const valuesIn = (name?: string, more?: Readonly<Record<string, string>>) =>
    valuesOf(run, { ...asVariables({ ...ofJob, ...more }), ...jobVariables }, name);
  const jobValues = valuesIn();
  if (!environment) return { values: jobValues };
  const { action = 'start', deployment_tier: tier, url } = environment;
  const name = expandText(environment.name, jobValues);
  const ofEnvironment = {
    CI_ENVIRONMENT_NAME: name,
    CI_ENVIRONMENT_SLUG: environmentSlug(name),
    CI_ENVIRONMENT_ACTION: action,
    CI_ENVIRONMENT_TIER: tier ?? tierOf(name),
  };
  const values = valuesIn(name, ofEnvironment);
  if (!url) return { values, name };
  return { values: valuesIn(name, { ...ofEnvironment, CI_ENVIRONMENT_URL: expandText(url, values) }), name };
}

/** The name of an environment as part of a host name. */
function environmentSlug(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-')
    .replace(/-+/g, '-');
  const slug = /^[a-z]/.test(plain) ? plain : `env-${plain}`;
  if (slug.length <= MAX_ENVIRONMENT_SLUG && slug === name) return slug.replace(/-$/, '');
  const hash = BigInt(`0x${createHash('sha256').update(name).digest('hex')}`)
    .toString(36)
    .slice(-6);
  return `${slug.slice(0, MAX_ENVIRONMENT_SLUG - 7).replace(/-*$/, '-')}${hash}`;
}

/** The tiers of environments by patterns of their names; the first that fits is `CI_ENVIRONMENT_TIER`. */
const TIERS = {
  development: /dev|review|trunk/i,
  testing: /te?st|int|acc?e?pt|qa|qc|control|quality/i,
  staging: /sta?g|mode?l|pre|demo|non/i,
  production: /pro?d|live/i,
};
const tierOf = (name: string) => Object.entries(TIERS).find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';
