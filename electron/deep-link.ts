export const PROTOCOL = 'terrarium';

const MAX_LENGTH = 2_048;
const SEGMENT = /^[\w.~-]+$/;
/** Parameters that an external link must not set: they would sign the window in as another user. */
const FORBIDDEN_QUERY = ['code'];

/**
 * The path in the window for a deep link: `terrarium://resources/ID?tab=log` is `/ui/resources/ID?tab=log`. Undefined for other links.
 * Links are untrusted, so only names and a query pass.
 */
export function pathOfLink(link: string): string | undefined {
  if (link.length > MAX_LENGTH || !URL.canParse(link)) return undefined;
  const { protocol, username, password, port, host, pathname, searchParams } = new URL(link);
  if (protocol !== `${PROTOCOL}:` || username || password || port) return undefined;
  const segments = [host, ...pathname.split('/')].filter(Boolean);
  if (!segments.every((segment) => SEGMENT.test(segment) && !/^[.]+$/.test(segment))) return undefined;
  for (const name of FORBIDDEN_QUERY) searchParams.delete(name);
  const query = searchParams.toString();
  return `/ui/${segments.join('/')}${query && `?${query}`}`;
}

/** The first deep link among the arguments of a start. */
export function findLink(argv: readonly string[]): string | undefined {
  return argv.find((argument) => argument.startsWith(`${PROTOCOL}:`));
}
