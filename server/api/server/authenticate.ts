import type { IncomingMessage } from 'node:http';
import type { Caller, Identification } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';

/** `error_description` for invalid credentials (D-181). */
const DESCRIPTIONS = {
  wrong: 'the credentials are wrong',
  ended: 'the credentials have been revoked',
  expired: 'the token has expired',
} as const;

interface Demanded {
  /** `{security_url}` as this client sees it: where to get a token. */
  securityUrl: string;
  fqon?: string;
  /** The only accepted way to authenticate; any if not set. */
  acceptedScheme?: 'bearer' | 'basic';
  basicRealm?: string | undefined;
}

/** The names by which Node's fetch identifies itself. Like browsers, it sends Sec-Fetch-Mode. */
const NODE_FETCH = /^(node|undici)$/;

/**
 * The realm in which the control plane offers Basic authentication to programs that wait for a challenge. Browsers get none: they would open
 * a dialog of their own (D-181). At plain HTTP addresses of other machines they leave out Sec-Fetch-Mode.
 */
export function basicRealmFor({ headers }: IncomingMessage, securityUrl: string): string | undefined {
  const { 'user-agent': agent = '', 'sec-fetch-mode': fetchMode } = headers;
  const isBrowser = fetchMode === undefined ? isNamedAsBrowser(agent) : !NODE_FETCH.test(agent);
  return isBrowser ? undefined : securityUrl;
}

/** PowerShell also names itself after an old browser. */
function isNamedAsBrowser(agent: string): boolean {
  return agent.startsWith('Mozilla/') && !agent.includes('PowerShell');
}

/** The caller of a request. Throws the 401 of D-181, which says why credentials were refused. */
export function authenticate(
  identification: Identification,
  { securityUrl, fqon = 'root', acceptedScheme, basicRealm }: Demanded,
): Caller {
  const isTaken = (caller: Caller) =>
    acceptedScheme === undefined || (acceptedScheme === 'basic') === (caller.scheme === 'basic');
  if (identification.kind === 'caller' && isTaken(identification.caller)) return identification.caller;
  const fault =
    identification.kind === 'invalid'
      ? `, error="invalid_token", error_description="${DESCRIPTIONS[identification.reason ?? 'wrong']}"`
      : '';
  const challenges = [
    ...(acceptedScheme === 'basic' ? [] : [`Bearer realm="${securityUrl}/${fqon}/oauth/issue"${fault}`]),
    ...(basicRealm === undefined ? [] : [`Basic realm="${basicRealm}"`]),
  ];
  throw new PlatformError('unauthenticated', 'Authentication required', {
    headers: { 'WWW-Authenticate': challenges.join(', ') },
  });
}

/** The request header by which the command line, MCP tools and the window identify themselves for the history. */
const CLIENT_HEADER = 'x-terrarium-client';

/** The source of a change: any client of the API, unless it identifies itself as one of ours. */
export function changeSourceOf(req: IncomingMessage): 'api' | 'cli' | 'mcp' | 'ui' {
  const client = req.headers[CLIENT_HEADER];
  return client === 'cli' || client === 'mcp' || client === 'ui' ? client : 'api';
}
