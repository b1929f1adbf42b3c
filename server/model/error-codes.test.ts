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
  ['an unknown route', 'GET', '/meta/nowhere/at/all/of/it/x', 'no_route'],
  ['an unknown organization', 'GET', '/meta/nowhere/lambdas', 'not_found'],
  ['an unknown query parameter', 'GET', '/meta/orgs?colour=red', 'invalid_query'],
  ['an unknown account', 'GET', '/security/accounts/00000000-0000-4000-8000-000000000000', 'not_found'],
])('the response to %s names its reason', async (_, method, path, reason) => {
  const { status } = errorCodes[reason as keyof typeof errorCodes];
  expect(await root.call(method, path)).toMatchObject({ status, body: { code: status, reason } });
});
