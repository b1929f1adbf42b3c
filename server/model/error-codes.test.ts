import { expect, it } from 'vitest';
import { sharedPlatform } from '../testing/platform.ts';
import { ERROR_CODES, errorCodes } from './error-codes.ts';
import { PlatformError } from './errors.ts';

it.each(ERROR_CODES)('the body of an error with code %s has its status and the code', (reason) => {
  const { status } = errorCodes[reason];
  expect(new PlatformError(reason, 'failed').body()).toEqual({ code: status, reason, message: 'failed' });
});

const { root } = sharedPlatform();

it.each([
  ['an unknown route', '/nowhere/at/all/of/it/x', 'no_route'],
  ['an unknown organization', '/nowhere/lambdas', 'not_found'],
  ['an unknown query parameter', '/root/orgs?colour=red', 'invalid_query'],
] as const)('the response to %s names its reason', async (_, path, reason) => {
  const { status } = errorCodes[reason];
  expect(await root.get(path)).toMatchObject({ status, body: { code: status, reason } });
});
