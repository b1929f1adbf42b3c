import { createContext, useContext } from 'react';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import type { Schema } from './use-type-schema.ts';

export interface FieldProps {
  /** The name for screen readers: as the form shows it, e.g. `Requests per minute`. */
  label: string;
  /** Into the record. */
  pointer: string;
  /** The last step of the pointer: a member's name, or a place in a list. */
  name: string;
  schema: Schema;
  value: unknown;
  /** The sibling property that decides which references are possible (`deciderIn`). */
  conditionValue?: unknown;
  /** It is required; an optional one can be removed. */
  isRequired?: boolean;
  /** Undefined takes it away. The same function each time: who types in one field draws no other one again. */
  set(name: string, value: unknown): void;
}

/** The facts about the whole form that its fields need. They do not change while the user types. */
export interface FormContextValue {
  /** Id of the place that the resource is in, or will be; undefined while that is not known. */
  placeId: string | undefined;
  /** Nothing is stored yet: what is never shown has to be written. */
  isNew: boolean;
  /** The server's complaints, by pointer into the record. */
  errors: readonly ErrorDetail[];
}

export const FormContext = createContext<FormContextValue>({ placeId: undefined, isNew: true, errors: [] });

/** The error at a place of the record; `isLeaf`: also the errors inside it, which have no field of their own. */
export function useErrorAt(pointer: string, isLeaf = true): string | undefined {
  const { errors } = useContext(FormContext);
  const found = errors.filter(
    (detail) => detail.pointer === pointer || (isLeaf && detail.pointer.startsWith(`${pointer}/`)),
  );
  return found.length === 0 ? undefined : found.map(({ message }) => message).join('; ');
}
