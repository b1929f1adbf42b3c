import { UserError } from '../config.ts';
import { readerBeforeTheScript } from '../model/variable-readers.ts';
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

/** A variable that every job gets. */
export const plainVariable = (key: string, value: string): JobVariable => ({
  key,
  value,
  isFile: false,
  isRaw: false,
  scope: '*',
});

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
 * the one that servers protect. Throws UserError for one that would act before any job does, as earlier versions have taken them.
 */
export function projectVariables(
  all: readonly ScmVariableRecord[],
  { branch, defaultBranch }: { branch: string; defaultBranch: string },
): ProjectVariables {
  for (const { key } of all) {
    const reader = readerBeforeTheScript(key);
    if (reader === undefined) continue;
    throw new UserError(
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

/** The text of the file by which the runner hears of variables: YAML, of which JSON is a part. */
export function variablesFile(variables: readonly JobVariable[]): string {
  const entries = new Map<string, { type: 'file' | 'variable'; values: Record<string, string> }>();
  for (const { key, value, isFile, isRaw, scope } of variables) {
    const values = entries.get(key)?.values ?? {};
    // A scope is made a pattern there, of which only * is ours.
    const pattern = scope.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
    values[pattern] = isRaw && !isFile ? value.replaceAll('$', '$$$$') : value;
    entries.set(key, { type: isFile ? 'file' : 'variable', values });
  }
  // ASCII only: YAML takes fewer characters as they are than JSON does.
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(Object.fromEntries(entries)).replace(/[\u007f-\uffff]/g, escaped)}\n`;
}
