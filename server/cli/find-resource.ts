import { findByName } from '../api/client/find-lambda.ts';
import type { TypeWord } from '../model/type-words.ts';
import { UserError } from '../platform/config.ts';
import type { PlatformClient } from './platform-client.ts';

/** Finds the id of a resource that a user names. @param argument the forms of names, for the error */
export function findResource(
  client: PlatformClient,
  collections: readonly TypeWord[],
  named: string,
  argument: string,
): Promise<string> {
  return findByName(
    client,
    collections,
    named,
    (reason, isAmbiguous) => new UserError(isAmbiguous ? reason : `${reason}. Give the ${argument}.`),
  );
}
