import { PipelineError } from './pipeline-error.ts';

/** Characters that variables within variables may add in total; each mention counts as some. */
const MAX_EXPANDED_CHARACTERS = 10_000_000;
const CHARACTERS_PER_MENTION = 100;

/** A value as a definition, a project or the server gives it. */
export interface VariableValue {
  value: string;
  /** Are `$` in it just that? */
  isRaw?: boolean;
}

export type Variables = Readonly<Record<string, VariableValue>>;

const NAME = /\$\$|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g;

/** Variables of plain values. */
export function asVariables(
  values: Readonly<Record<string, string>>,
  how: Pick<VariableValue, 'isRaw'> = {},
): Variables {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, ...how }]));
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
