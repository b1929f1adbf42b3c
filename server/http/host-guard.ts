import { isIPv4 } from 'node:net';

/** The host name in a Host header, lower case, without port, brackets or trailing dot; undefined when it is malformed. */
export function hostNameOf(hostHeader: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9._-]*[a-z0-9_-])?))\.?(?::\d{1,5})?$/i.exec(hostHeader);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || (isIPv4(name) && name.startsWith('127.'))
  );
}

/**
 * Is a request with this Host header meant for us? A page on another site that rebinds its own name to our address sends
 * that name, and is refused. Ours are the loopback names and addresses and what the configuration allows.
 *
 * @param allowed further host names, lower case, without port
 */
export function isOurHost(hostHeader: string | undefined, allowed: ReadonlySet<string>): boolean {
  const name = hostHeader === undefined ? undefined : hostNameOf(hostHeader);
  return name !== undefined && isOurName(name, allowed);
}

/** The same of a name as `hostNameOf` tells it. */
export function isOurName(name: string, allowed: ReadonlySet<string>): boolean {
  return isLoopback(name) || allowed.has(name);
}
