import type { ReferenceFact, ReferenceTarget } from '../../../../server/model/property-facts.ts';
import type { Schema } from './use-type-schema.ts';

type Properties = Readonly<Record<string, unknown>>;

/** A property as people say it, and what it counts: `Target type` for `implementation_type`, `Health checks` for `health_checks`. */
export function labelOf(name: string, { title }: Schema = {}): string {
  const words =
    title ?? name.replaceAll('_', ' ').replace(/(?<=[a-z])(?=[A-Z])[A-Z]/g, (one) => ` ${one.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Does a property lead the form of its type? */
export function isLeading({ 'x-terrarium-form': form }: Schema): boolean {
  return form?.order !== undefined;
}

/** The names of properties in the order of the form: those that lead, then the others in their order. */
export function sortedForForm(properties: Readonly<Record<string, Schema>>): string[] {
  const rank = (name: string) => properties[name]?.['x-terrarium-form']?.order ?? Number.MAX_SAFE_INTEGER;
  return Object.keys(properties).sort((one, other) => rank(one) - rank(other));
}

/**
 * State of a property that depends on its siblings: `unused` has no meaning, `required` must be set.
 * @param beside the other properties, and the `resource_type`
 */
export function conditionOf(
  { 'x-terrarium-form': form }: Schema,
  beside: Properties,
): 'unused' | 'required' | 'optional' {
  if (!form?.when) return 'optional';
  const { property, is, isRequired } = form.when;
  const value = String(beside[property]).split('::').at(-1)?.toLowerCase();
  if (!is.some((one) => one.toLowerCase() === value)) return 'unused';
  return isRequired ? 'required' : 'optional';
}

/** An object with one changed member (undefined: removed), without the notes about the old value. */
export function withMember(schema: Schema, object: Properties, name: string, next: unknown): Record<string, unknown> {
  const gone = object[name] === next ? [] : notesOf(name, schema.properties ?? {});
  // The order is kept, because a member that moved to the end would look like another one.
  const members = Object.entries({ ...object, [name]: next });
  return Object.fromEntries(members.filter(([one, value]) => value !== undefined && !gone.includes(one)));
}

/** Members that describe the reference in a member: its type, the selected entry, values that the server filled in. */
function notesOf(name: string, properties: Readonly<Record<string, Schema>>): string[] {
  return Object.entries(properties).flatMap(([one, schema]) => {
    if (deciderOf(schema) === name) return [one, ...notesOf(one, properties)];
    return name === 'id' && schema['x-terrarium-form']?.isFilledIn ? [one] : [];
  });
}

/** The value in an object that decides what can be meant by a member of this schema. */
export function conditionValueIn(object: Properties, schema: Schema): unknown {
  const name = deciderOf(schema);
  return name === undefined ? undefined : object[name];
}

function deciderOf({ 'x-terrarium-form': form, 'x-terrarium-reference': to }: Schema): string | undefined {
  return form?.entryOf?.property ?? (to && 'decidedBy' in to ? to.decidedBy : undefined);
}

/** What a property names, whether it is written as an id or as a link. */
export function namedBy({ 'x-terrarium-reference': own, anyOf = [] }: Schema): ReferenceFact['to'] | undefined {
  return own ?? anyOf.map((one) => one['x-terrarium-reference']).find((one) => one !== undefined);
}

/** What may be chosen, as what decides that says; all that it could be while it says nothing. */
export function targetsOf(to: ReferenceFact['to'], conditionValue: unknown): ReferenceTarget[] {
  if ('word' in to) return [to];
  const decided = to.targets[String(conditionValue)];
  return decided ? [decided] : Object.values(to.targets);
}
