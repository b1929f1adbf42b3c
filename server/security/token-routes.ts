import { type Request, Router } from 'express';
import { answerErrors } from '../http/answer-error.ts';
import { readForm } from '../http/read-body.ts';
import { PlatformError } from '../model/errors.ts';
import type { StoredResource } from '../model/record.ts';
import { findUser, isDisabled, isUsableIn } from './accounts.ts';
import { tooManyAttempts } from './attempt-limiter.ts';
import { formDecoded, readAuthorization } from './authorization-header.ts';
import { refuseDuplicates, requiredField } from './form-fields.ts';
import { type SecurityOptions, SecurityRequest } from './security-request.ts';

/** A refusal with an error code of RFC 6749, always 400 here (D-171). */
class TokenError extends PlatformError {
  readonly reason: 'invalid_grant' | 'invalid_client' | 'unsupported_grant_type';

  constructor(reason: TokenError['reason'], description: string) {
    super(400, description);
    this.reason = reason;
  }
}

/** Whom a token is for, and in which organization. */
interface Grant {
  user: StoredResource;
  orgId: string;
}

/** `POST [/{fqon}]/oauth/issue`: the password and client_credentials grants (D-170, D-171, D-185). */
export function tokenRoutes(options: SecurityOptions): Router {
  const { credentials, prefix } = options;
  const router = Router({ caseSensitive: true });
  const paths = ['/oauth/issue', '/:fqon/oauth/issue'];

  router.post(paths, async (http, res) => {
    res.set('Cache-Control', 'no-store');
    const request = new SecurityRequest(options, http);
    const organization = request.segment('fqon') === '' ? undefined : request.organization();
    const form = await readForm(http);
    refuseDuplicates(form);
    const { user, orgId } = await grantFor(options, form, organization, http);
    res.json({
      access_token: await credentials.issueToken(user.id, orgId),
      token_type: 'bearer',
      expires_in: credentials.tokenLifetimeMs / 1000,
      [`${prefix.toLowerCase()}_access_token_href`]: '',
    });
  });

  router.use(paths, answerErrors(options.onFault, tokenErrorBody));
  return router;
}

function tokenErrorBody(error: PlatformError): object {
  return { error: reasonOf(error), error_description: error.message, code: error.status };
}

function reasonOf(error: PlatformError): string {
  if (error instanceof TokenError) return error.reason;
  if (error.status === 429) return 'invalid_grant';
  return error.status === 500 ? 'server_error' : 'invalid_request';
}

async function grantFor(
  options: SecurityOptions,
  form: URLSearchParams,
  organization: StoredResource | undefined,
  http: Request,
): Promise<Grant> {
  const grantType = requiredField(form, 'grant_type');
  const address = http.socket.remoteAddress;
  if (grantType === 'client_credentials') {
    return clientGrant(options, organization, http.headers.authorization, address);
  }
  if (grantType === 'password' && organization) return passwordGrant(options, form, organization, address);
  throw new TokenError(
    'unsupported_grant_type',
    organization
      ? 'grant_type must be password or client_credentials'
      : 'grant_type must be client_credentials here; the password grant is at {fqon}/oauth/issue',
  );
}

async function passwordGrant(
  { view, attempts, isPassword }: SecurityOptions,
  form: URLSearchParams,
  organization: StoredResource,
  address: string | undefined,
): Promise<Grant> {
  const username = requiredField(form, 'username');
  const password = requiredField(form, 'password');
  const attempt = attempts.begin(username, address);
  if ('waitS' in attempt) throw tooManyAttempts(attempt.waitS);
  const [named] = view.named('users', username);
  const user = named && isUsableIn(view, named, organization) ? named : undefined;
  const isRight = await isPassword(password, user);
  if (!user || !isRight || isDisabled(user)) {
    throw new TokenError('invalid_grant', 'no such user here, wrong password, or the account is disabled');
  }
  attempt.succeeded();
  return { user, orgId: organization.id };
}

function clientGrant(
  { view, credentials, attempts }: SecurityOptions,
  organization: StoredResource | undefined,
  authorization: string | undefined,
  address: string | undefined,
): Grant {
  const claim = readAuthorization(authorization ?? '');
  if (claim?.scheme !== 'basic') {
    throw new TokenError('invalid_client', 'send an API key and its secret as Basic authentication');
  }
  const { key, secret } = claim;
  const attempt = attempts.begin(key, address);
  if ('waitS' in attempt) throw tooManyAttempts(attempt.waitS);
  const record = credentials.verifyKey(key, secret) ?? credentials.verifyKey(formDecoded(key), formDecoded(secret));
  const user = record && findUser(view, record.accountId);
  if (!record || !user || (organization && !isUsableIn(view, user, organization))) {
    throw new TokenError('invalid_client', 'this API key and secret are not valid here');
  }
  if (isDisabled(user)) throw new TokenError('invalid_grant', 'the account of this API key is disabled');
  attempt.succeeded();
  return { user, orgId: organization?.id ?? record.orgId };
}
