import { fullNamesOf, resourceTypes } from '../model/registry.ts';
import type { ResourceType } from '../model/resource-type.ts';
import type { TypeWord } from '../model/type-words.ts';

/** How the document names a resource type. */
export interface TypeNaming {
  /** Its record's schema, e.g. `ApiEndpoint`. */
  schema: string;
  /** In operation ids, e.g. `ApiEndpoints`. */
  plural: string;
  /** In sentences, with its article, e.g. `an API endpoint`. */
  one: string;
  /** In sentences, e.g. `API endpoints`. */
  many: string;
  /** Its operations' tag, e.g. `API endpoints`. */
  tag: string;
  /** Its id in paths, e.g. `apiendpoint_id`. */
  idParameter: string;
}

/** Derives the names from the registry's row. */
export function namingOf({ name, noun }: Pick<ResourceType, 'name' | 'noun'>): TypeNaming {
  const schema = name.slice(name.lastIndexOf(':') + 1);
  const plural = `${schema.replace(/y$/, 'ie')}s`;
  const label = inWords(schema);
  const many = inWords(plural);
  return {
    schema,
    plural,
    one: `${/^[aeio]/i.test(label) ? 'an' : 'a'} ${label}`,
    many,
    tag: capital(many),
    idParameter: `${noun}_id`,
  };
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `ApiEndpoints` as `endpoints`: whoever looks at them sees of what they are. */
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

/** What the window knows of a resource type, without the schemas that the registry brings along. */
export interface TypeKind {
  word: TypeWord;
  /** Full names after the prefix, sub-types included. */
  names: readonly string[];
  /** For one of them. */
  title: string;
  /** For several. */
  plural: string;
  /** Name of its `properties` in the document. */
  schema: string;
  /** Below what it can be created. */
  parents: readonly TypeWord[];
}

/** Of all types, in the order of the registry. */
export function typeKinds(): TypeKind[] {
  return resourceTypes.map((type) => {
    const { schema, plural } = namingOf(type);
    const { word, parents } = type;
    return {
      word,
      names: fullNamesOf(type),
      title: shortly(schema),
      plural: capital(shortly(plural)),
      schema: `${schema}Properties`,
      parents,
    };
  });
}
