import { fullNamesOf, resourceTypes } from '../../model/registry.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import type { TypeWord } from '../../model/type-words.ts';

export function namingOf({ name, singular }: Pick<ResourceType, 'name' | 'singular'>) {
  const schema = name.slice(name.lastIndexOf(':') + 1);
  const plural = `${schema.replace(/y$/, 'ie')}s`;
  const label = inWords(schema);
  const many = inWords(plural);
  return {
    schema, // `ApiEndpoint`
    requestSchema: `${schema}Request`,
    plural, // in operation ids
    one: `${/^[aeio]/i.test(label) ? 'an' : 'a'} ${label}`, // `an API endpoint`
    many, // `API endpoints`
    tag: capital(many),
    idParameter: `${singular}_id`,
  };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `ApiEndpoints` as `endpoints`: the context already names the API. */
function shortly(name: string): string {
  return inWords(name).replace(/^API /, '');
}

/** `ApiEndpoints` as `API endpoints`. */
function inWords(name: string): string {
  return name
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .replace(/\bapi/g, 'API');
}

/** The part of a resource type that the window knows, without the schemas of the registry. */
export interface TypeKind {
  collection: TypeWord;
  /** Full names without the prefix, including sub-types. */
  names: readonly string[];
  title: string;
  plural: string;
  /** Name of the `properties` of a request in the document. */
  schema: string;
  parents: readonly TypeWord[];
}

export function typeKinds(): TypeKind[] {
  return resourceTypes.map((type) => {
    const { schema, plural } = namingOf(type);
    const { collection, parents } = type;
    return {
      collection,
      names: fullNamesOf(type),
      title: shortly(schema),
      plural: capital(shortly(plural)),
      schema: `${schema}PropertiesRequest`,
      parents,
    };
  });
}
