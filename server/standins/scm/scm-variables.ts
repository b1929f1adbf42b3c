import { readerBeforeTheScript } from '../../model/variable-readers.ts';
import type { ScmVariable } from './scm-state.ts';

/** As the real server has it for all keys. */
const KEY = /^\w{1,255}$/;
/** What can be told from the text around it, as the real server demands of masked values: with `raw` anything without spaces. */
const MASKABLE = /^[\w+=/@:.~-]{8,}$/;
const MASKABLE_RAW = /^\S{8,}$/;

/** What is wrong with a variable, by its member, in the words of the real server where it has some. */
export function offenceOf({
  key,
  value,
  masked,
  raw,
}: ScmVariable): { member: 'key' | 'value'; reason: string } | undefined {
  if (!KEY.test(key)) return { member: 'key', reason: "can contain only letters, digits and '_'." };
  const reader = readerBeforeTheScript(key);
  if (reader !== undefined) {
    const reason = `(${key}) is read by ${reader} before a job's script begins, so a project cannot set it: set it in .gitlab-ci.yml or in the script`;
    return { member: 'key', reason };
  }
  if (value.includes('\0')) return { member: 'value', reason: 'is invalid: a variable cannot hold a NUL character' };
  if (masked && !(raw ? MASKABLE_RAW : MASKABLE).test(value)) {
    const letters = raw ? 'without spaces' : 'of letters, digits and + = / @ : . ~ _ -, or without spaces if it is raw';
    return {
      member: 'value',
      reason: `is invalid: to be masked it has to be one line of at least 8 characters, ${letters}`,
    };
  }
  return undefined;
}

/** A variable of that key as the real server makes it when nothing else is said. */
export function newVariable(key: string, value: string): ScmVariable {
  return {
    key,
    value,
    variable_type: 'env_var',
    protected: false,
    masked: false,
    raw: false,
    environment_scope: '*',
    description: null,
  };
}

/** The variables with one more, or with the value of that one anew wherever it is set. */
export function withVariable(variables: readonly ScmVariable[], key: string, value: string): ScmVariable[] {
  if (!variables.some((one) => one.key === key)) return [...variables, newVariable(key, value)];
  return variables.map((one) => (one.key === key ? { ...one, value } : one));
}
