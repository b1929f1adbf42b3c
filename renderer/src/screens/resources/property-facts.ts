import type { ReferenceFact, ReferenceTarget } from '../../../../server/model/property-facts.ts';
import type { Schema } from './use-type-schema.ts';

type Properties = Readonly<Record<string, unknown>>;

/** A property as people say it, and what it counts: `Target type` for `implementation_type`, `Health checks` for `health_checks`. */
export function labelOf(name: string, { title }: Schema = {}): string {
  const label =
    title ?? name.replaceAll('_', ' ').replace(/(?<=[a-z])(?=[A-Z])[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return label.charAt(0).toUpperCase() + label.slice(1);
}

export function isLeading({ 'x-terrarium-form': form }: Schema): boolean {
  return form?.order !== undefined;
}

/** The names of properties in the order of the form: those that lead, then the others in their order. */
export function sortedForForm(properties: Readonly<Record<string, Schema>>): string[] {
  const rank = (name: string) => properties[name]?.['x-terrarium-form']?.order ?? Number.MAX_SAFE_INTEGER;
  return Object.keys(properties).sort((a, b) => rank(a) - rank(b));
}

/**
 * State of a property that depends on its siblings: `unused` has no meaning, `required` must be set.
 * @param siblingProperties the other properties, and the `resource_type`
 */
export function conditionOf(
  { 'x-terrarium-form': form }: Schema,
  siblingProperties: Properties,
): 'unused' | 'required' | 'optional' {
  if (!form?.when) return 'optional';
  const { property, is, isRequired } = form.when;
  const value = String(siblingProperties[property]).split('::').at(-1)?.toLowerCase();
  if (!is.some((allowedValue) => allowedValue.toLowerCase() === value)) return 'unused';
  return isRequired ? 'required' : 'optional';
}

/** An object with one changed member (undefined: removed), without the notes about the old value. */
export function withMember(schema: Schema, object: Properties, name: string, next: unknown): Record<string, unknown> {
  const removedNames = object[name] === next ? [] : notesOf(name, schema.properties ?? {});
  // The order is kept, because a member that moved to the end would look like another one.
  const members = Object.entries({ ...object, [name]: next });
  return Object.fromEntries(
    members.filter(([memberName, value]) => value !== undefined && !removedNames.includes(memberName)),
  );
}

/** Members that describe the reference in a member: its type, the selected entry, values that the server filled in. */
function notesOf(name: string, properties: Readonly<Record<string, Schema>>): string[] {
  return Object.entries(properties).flatMap(([propertyName, schema]) => {
    if (deciderOf(schema) === name) return [propertyName, ...notesOf(propertyName, properties)];
    return name === 'id' && schema['x-terrarium-form']?.isFilledIn ? [propertyName] : [];
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

/** Returns the target of a property's reference, whether it is written as an id or as a link. */
export function namedBy({
  'x-terrarium-reference': directReference,
  anyOf = [],
}: Schema): ReferenceFact['to'] | undefined {
  return (
    directReference ??
    anyOf.map((alternative) => alternative['x-terrarium-reference']).find((reference) => reference !== undefined)
  );
}

/** Returns the possible targets for the value of the deciding property; all targets while it has no value. */
export function targetsOf(to: ReferenceFact['to'], conditionValue: unknown): ReferenceTarget[] {
  if ('word' in to) return [to];
  const decided = to.targets[String(conditionValue)];
  return decided ? [decided] : Object.values(to.targets);
}
