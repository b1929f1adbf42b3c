import { z } from 'zod';

/** A property whose value nobody reads back. */
export interface SecretFact {
  /** In an answer it is left out (D-029), or the mask stands for it unless its reader may change the record and asks for it (D-066). */
  shown: 'never' | 'masked';
  /** Stored as a one-way hash. */
  isHashed?: true;
}

/** Which properties are secret. The one place where that is said: answers, archives, seeds, the history and the document follow from it. */
export const secretFacts = z.registry<SecretFact>();

/** What stands in place of a masked value; sent back, it keeps what is stored. */
export const MASK = '****';
