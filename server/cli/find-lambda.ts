import { findLambdaBy } from '../api/client/find-lambda.ts';
import { UserError } from '../platform/config.ts';
import type { PlatformClient } from './platform-client.ts';

export const LAMBDA_ARGUMENT = 'ID, path such as /demo/website/development/contact-form, or unique name of the lambda';

export const findLambda = (client: PlatformClient, named: string) =>
  findLambdaBy(
    client,
    named,
    (reason, isAmbiguous) => new UserError(isAmbiguous ? reason : `${reason}. Give the ${LAMBDA_ARGUMENT}.`),
  );
