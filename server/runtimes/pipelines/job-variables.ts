import { earlyReaderOf } from '../../model/early-reader.ts';
import { matchesStars } from '../../model/matches-stars.ts';
import { PipelineError } from './pipeline-error.ts';
import type { ScmVariableRecord } from './scm-client.ts';

/** Among variables with one key, that of the highest level counts: a project's own, then its nearest group's. */
export type JobVariable = Pick<
  ScmVariableRecord,
  'key' | 'value' | 'variable_type' | 'raw' | 'environment_scope' | 'level'
>;

/**
 * Returns the variables that the jobs of a branch get from a project, the values that no log may show, and the keys of withheld variables:
 * protected ones, unless the branch is the default one, which is the one that servers protect. Throws PipelineError for a variable that would take
 * effect before any job does, because earlier versions accepted such variables.
 */
export function projectVariables(
  all: readonly ScmVariableRecord[],
  { branch, defaultBranch }: { branch: string; defaultBranch: string },
): { variables: JobVariable[]; secrets: string[]; withheld: string[] } {
  for (const { key } of all) {
    const reader = earlyReaderOf(key);
    if (reader === undefined) continue;
    throw new PipelineError(
      `the project's variable ${key} is read by ${reader} before a job's script begins, so no job was run. Remove it from the project, and set it in .gitlab-ci.yml or in the script.`,
    );
  }
  const isFor = (variable: ScmVariableRecord) => !variable.protected || branch === defaultBranch;
  return {
    variables: all.filter(isFor),
    secrets: all.filter((variable) => variable.masked).map(({ value }) => value),
    withheld: all.filter((variable) => !isFor(variable)).map(({ key }) => key),
  };
}

/** The variables for a job with an environment. If several have the same key, the nearest level wins, and there the most specific scope. */
export function inScope(all: readonly JobVariable[], environment: string | undefined): JobVariable[] {
  const matchingVariables = all.filter(
    ({ environment_scope: scope }) => scope === '*' || (environment !== undefined && matchesStars(scope, environment)),
  );
  return matchingVariables.sort((a, b) => a.level - b.level || a.environment_scope.length - b.environment_scope.length);
}

/** The sources of the variables of a run's jobs, in ascending priority. */
export interface RunVariables {
  /** The server's own. */
  predefined: Readonly<Record<string, string>>;
  /** The variables that fit the platform, as a group sets them for its projects. */
  ofGroup: Readonly<Record<string, string>>;
  /** The project's, values of files as paths. */
  ofProject: readonly JobVariable[];
  /** Given with this very run. */
  typed: Readonly<Record<string, string>>;
}

/** Returns the variables that win over a definition's own, for the jobs of an environment. */
function variablesByPrecedence(
  { ofGroup, ofProject, typed }: RunVariables,
  environment: string | undefined,
): Variables {
  const scoped = inScope(ofProject, environment).map(({ key, value, raw, variable_type: type }) => [
    key,
    { value, isRaw: raw || type === 'file' },
  ]);
  return { ...asVariables(ofGroup), ...Object.fromEntries(scoped), ...asVariables(typed) };
}

/** The values of a definition's variables, and of all others of the run. */
export function valuesOf(run: RunVariables, definition: Variables, environment?: string): Record<string, string> {
  return expanded({
    ...asVariables(run.predefined),
    ...definition,
    ...variablesByPrecedence(run, environment),
  });
}

/** Variables of jobs without an environment, in addition to those of the definition. */
export function givenValues(run: RunVariables): Record<string, string> {
  const winning = Object.entries(variablesByPrecedence(run, undefined)).map(([name, { value }]) => [name, value]);
  return { ...run.predefined, ...Object.fromEntries(winning) };
}

/** Characters that variables within variables may add in total; each mention counts as some. */
const MAX_EXPANDED_CHARACTERS = 10_000_000;
const CHARACTERS_PER_MENTION = 100;

/** A value as a definition, a project or the server gives it. */
interface VariableValue {
  value: string;
  /** Are `$` in it just that? */
  isRaw?: boolean;
}

export type Variables = Readonly<Record<string, VariableValue>>;

const NAME = /\$\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g;

/** Variables of plain values. */
export function asVariables(values: Readonly<Record<string, string>>): Variables {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}

/**
 * Each with those put in that its value mentions; `$$` is a `$`. One that mentions itself, by whatever way, is empty there.
 * Throws PipelineError if variables multiply, as `$B$B` in `A`, `$C$C` in `B` and so on do.
 */
export function expanded(variables: Variables): Record<string, string> {
  const expandedValues = new Map<string, string>();
  let characters = 0;
  const textOf = (name: string, asking: readonly string[]): string => {
    const found = expandedValues.get(name);
    if (found !== undefined) return found;
    const variable = variables[name];
    if (variable === undefined || asking.includes(name)) return '';
    const value = variable.isRaw
      ? variable.value
      : variable.value.replace(NAME, (match, braced, bare) => {
          if (match === '$$') return '$';
          const text = textOf(braced ?? bare, [...asking, name]);
          characters += CHARACTERS_PER_MENTION + text.length;
          if (characters > MAX_EXPANDED_CHARACTERS) {
            throw new PipelineError(
              `variable '${asking[0] ?? name}' and the variables in its value multiply to more than ${MAX_EXPANDED_CHARACTERS} ` +
                'characters. Mention fewer variables in it.',
            );
          }
          return text;
        });
    // What is empty only because of who asked may have a value for another one.
    if (asking.length === 0) expandedValues.set(name, value);
    return value;
  };
  return Object.fromEntries(Object.keys(variables).map((name) => [name, textOf(name, [])]));
}

export function expandText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(NAME, (match, braced, bare) => (match === '$$' ? '$' : (values[braced ?? bare] ?? '')));
}
