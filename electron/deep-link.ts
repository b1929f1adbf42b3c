export const PROTOCOL = 'terrarium';

const MAX_LENGTH = 2_048;
const SEGMENT = /^[\w.~-]+$/;
/** What a link from elsewhere may never bring: it would sign the window in as somebody else. */
const FORBIDDEN_QUERY = ['code'];

/**
 * The place in the window that a link names: `terrarium://resources/ID?tab=log` is `/ui/resources/ID?tab=log`. Undefined for
 * what is no such link; anybody can write one, so nothing but names and a query goes through.
 */
export function placeOfLink(link: string): string | undefined {
  if (link.length > MAX_LENGTH || !URL.canParse(link)) return undefined;
  const { protocol, username, password, port, host, pathname, searchParams } = new URL(link);
  if (protocol !== `${PROTOCOL}:` || username || password || port) return undefined;
  const segments = [host, ...pathname.split('/')].filter(Boolean);
  if (!segments.every((segment) => SEGMENT.test(segment) && !/^[.]+$/.test(segment))) return undefined;
  for (const name of FORBIDDEN_QUERY) searchParams.delete(name);
  const query = searchParams.toString();
  return `/ui/${segments.join('/')}${query && `?${query}`}`;
}

/** The first link among the words that a start was given. */
export function findLink(argv: readonly string[]): string | undefined {
  return argv.find((word) => word.startsWith(`${PROTOCOL}:`));
}
