import { earlyReaderOf } from '../../model/early-reader.ts';
import type { ScmVariable } from './scm-state.ts';

/** Valid keys, as on the real server. */
const KEY = /^\w{1,255}$/;
/** Valid masked values, as on the real server: with `raw` anything without spaces. */
const MASKABLE = /^[\w+=/@:.~-]{8,}$/;
const MASKABLE_RAW = /^\S{8,}$/;

/** Returns the faulty member of a variable and the reason, in the words of the real server where possible. */
export function violationIn({
  key,
  value,
  masked,
  raw,
}: ScmVariable): { member: 'key' | 'value'; reason: string } | undefined {
  if (!KEY.test(key)) return { member: 'key', reason: "can contain only letters, digits and '_'." };
  const reader = earlyReaderOf(key);
  if (reader !== undefined) {
    const reason = `(${key}) is read by ${reader} before a job's script begins, so a project cannot set it: set it in .gitlab-ci.yml or in the script`;
    return { member: 'key', reason };
  }
  if (value.includes('\0')) return { member: 'value', reason: 'is invalid: a variable cannot contain a NUL character' };
  if (masked && !(raw ? MASKABLE_RAW : MASKABLE).test(value)) {
    const letters = raw ? 'without spaces' : 'of letters, digits and + = / @ : . ~ _ -, or without spaces if it is raw';
    return {
      member: 'value',
      reason: `is invalid: a masked variable must be one line of at least 8 characters, ${letters}`,
    };
  }
  return undefined;
}

/** A variable with that key and the defaults of the real server. */
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

/** The variables with one more, or with the value of an existing one replaced in all scopes. */
export function withVariable(variables: readonly ScmVariable[], key: string, value: string): ScmVariable[] {
  if (!variables.some((existing) => existing.key === key)) return [...variables, newVariable(key, value)];
  return variables.map((variable) => (variable.key === key ? { ...variable, value } : variable));
}
