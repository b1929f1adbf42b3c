export const PROTOCOL = 'terrarium';

const MAX_LENGTH = 2_048;
const SEGMENT = /^[\w.~-]+$/;

/** The path in the window: `terrarium://resources/ID?tab=log` is `/ui/resources/ID?tab=log`. Links are untrusted: only names and a query pass. */
export function pathOfLink(link: string): string | undefined {
  if (link.length > MAX_LENGTH || !URL.canParse(link)) return undefined;
  const { protocol, username, password, port, host, pathname, searchParams } = new URL(link);
  if (protocol !== `${PROTOCOL}:` || username || password || port) return undefined;
  const segments = [host, ...pathname.split('/')].filter(Boolean);
  if (!segments.every((segment) => SEGMENT.test(segment) && !/^[.]+$/.test(segment))) return undefined;
  searchParams.delete('code'); // it would sign the window in as another user
  const query = searchParams.toString();
  return `/ui/${segments.join('/')}${query && `?${query}`}`;
}

/** The first deep link among the arguments of a start. */
export function findLink(argv: readonly string[]): string | undefined {
  return argv.find((argument) => argument.startsWith(`${PROTOCOL}:`));
}
