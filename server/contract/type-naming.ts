import type { ResourceType } from '../model/resource-type.ts';

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
    tag: many.charAt(0).toUpperCase() + many.slice(1),
    idParameter: `${noun}_id`,
  };
}

/** `ApiEndpoints` as `API endpoints`. */
function inWords(name: string): string {
  return name
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .replace(/\bapi/g, 'API');
}
