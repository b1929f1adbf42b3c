const MAX_LENGTH = 8_192;
const PROTOCOLS = ['http:', 'https:', 'mailto:'];

/** Returns true for an address that the system may open. A `file:` or `ssh:` link of a page could start any program. */
export function isExternalLink(url: unknown): url is string {
  if (typeof url !== 'string' || url.length > MAX_LENGTH || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return PROTOCOLS.includes(protocol) && !username && !password;
}
