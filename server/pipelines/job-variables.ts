import { readerBeforeTheScript } from '../model/variable-readers.ts';
import { PipelineError } from './pipeline-error.ts';
import type { ScmVariableRecord } from './scm-client.ts';

/** A variable as jobs get it. */
export interface JobVariable {
  key: string;
  value: string;
  /** Is the value a file's, and the variable its path? */
  isFile: boolean;
  /** Are `$` in it just that? */
  isRaw: boolean;
  /** Name of the environments whose jobs get it; `*` stands for anything. */
  scope: string;
}

/** What a branch's jobs get of a project's variables. */
export interface ProjectVariables {
  variables: JobVariable[];
  /** Values that no log may show. */
  secrets: string[];
  /** Keys of those that are kept for protected branches. */
  withheld: string[];
}

/**
 * What the jobs of a branch get of a project's variables: those that are protected only if the branch is the default one, which is
 * the one that servers protect. Throws PipelineError for one that would act before any job does, as earlier versions have taken them.
 */
export function projectVariables(
  all: readonly ScmVariableRecord[],
  { branch, defaultBranch }: { branch: string; defaultBranch: string },
): ProjectVariables {
  for (const { key } of all) {
    const reader = readerBeforeTheScript(key);
    if (reader === undefined) continue;
    throw new PipelineError(
      `the project's variable ${key} is read by ${reader} before a job's script begins, so nothing is run: remove it from the project, and set it in .gitlab-ci.yml or in the script`,
    );
  }
  const isFor = (variable: ScmVariableRecord) => !variable.protected || branch === defaultBranch;
  return {
    variables: all.filter(isFor).map(({ key, value, variable_type, raw, environment_scope: scope }) => ({
      key,
      value,
      isFile: variable_type === 'file',
      isRaw: raw,
      scope,
    })),
    secrets: all.filter((one) => one.masked).map(({ value }) => value),
    withheld: all.filter((one) => !isFor(one)).map(({ key }) => key),
  };
}

/** The variables that a job of an environment gets: of those of one key the one whose scope says most. */
export function inScope(all: readonly JobVariable[], environment: string | undefined): JobVariable[] {
  const meant = all.filter(({ scope }) => {
    const pattern = scope.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
    return scope === '*' || (environment !== undefined && new RegExp(`^${pattern}$`, 's').test(environment));
  });
  return meant.sort((one, other) => one.scope.length - other.scope.length);
}
