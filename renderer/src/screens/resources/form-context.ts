import { createContext, useContext } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import type { TypeWord } from '../../../../server/model/type-words.ts';
import type { ParentPlace } from './providers-for.ts';
import type { Schema } from './use-type-schema.ts';

/** One field of a form. */
export interface FieldProps {
  /** What it is called by those who listen, e.g. `plugins rateLimit perMinute`. */
  label: string;
  /** Into the record. */
  pointer: string;
  schema: Schema;
  value: unknown;
  /** It has to be there; an optional one can be taken away again. */
  isRequired?: boolean;
  /** Undefined takes the member away. */
  onChange(value: unknown): void;
}

/** What the fields of a form have to know of the whole. */
export interface FormContextValue {
  word: TypeWord;
  /** Full name of the type, where it has sub-types; undefined while none is chosen. */
  subType?: string | undefined;
  /** Where the resource is, or will be; undefined while that is not known. */
  place: ParentPlace | undefined;
  /** The properties as they are in the form. */
  properties: Readonly<Record<string, unknown>>;
  /** Nothing is stored yet: what is never shown has to be written. */
  isNew: boolean;
  /** What the server said of it, by pointer into the record. */
  errors: readonly ErrorDetail[];
}

export const FormContext = createContext<FormContextValue>({
  word: 'orgs',
  place: undefined,
  properties: {},
  isNew: true,
  errors: [],
});

/** What is wrong at a place of the record; `isLeaf`: also with what is inside, which has no field of its own. */
function errorAt(errors: readonly ErrorDetail[], pointer: string, isLeaf: boolean): string | undefined {
  const found = errors.filter((one) => one.pointer === pointer || (isLeaf && one.pointer.startsWith(`${pointer}/`)));
  return found.length === 0 ? undefined : found.map(({ message }) => message).join('; ');
}

export function useErrorAt(pointer: string, isLeaf = true): string | undefined {
  return errorAt(useContext(FormContext).errors, pointer, isLeaf);
}

/** Says aloud that a field has to be filled; whether it is, the server says. */
export function needed(isRequired: boolean | undefined) {
  return { isRequired: isRequired ?? false, validationBehavior: 'aria' as const };
}
