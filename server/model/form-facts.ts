import { z } from 'zod';

/** What a form has to know of a property besides its schema. It goes along in the API document, as `x-terrarium-form`. */
export interface FormFact {
  /** What people call it; its own name in words unless given. */
  label?: string;
  /** Its place among what one nearly always wants to see of the type, from 1; what has none comes after all that have. */
  order?: number;
  /** What a number counts. */
  unit?: 'MB' | 's';
  /** `code` is a source of many lines, `fqon` names an organization, `concealed` are texts not meant for other people's eyes. */
  kind?: 'code' | 'fqon' | 'concealed';
  /**
   * It has a meaning only while a property beside it, or `resource_type` by its last word, is one of these, in any letter case;
   * `isRequired`: then it has to be there. The rule itself is the type's to check.
   */
  when?: { property: string; is: readonly string[]; isRequired?: true };
  /** It is the name of an entry in a list of the resource that another property beside it names. */
  entryOf?: { property: string; list: 'port_mappings' | 'items' };
  /** The server fills it in from what the `id` beside it names. */
  isFilledIn?: true;
}

/** What forms know of properties. The one place where that is said. */
export const formFacts = z.registry<FormFact>();
