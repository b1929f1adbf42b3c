const MAX_LENGTH = 8_192;
const PROTOCOLS = ['http:', 'https:', 'mailto:'];

/** May the system open this address? A `file:` or `ssh:` link of a page could start any program. */
export function isExternalLink(url: unknown): url is string {
  if (typeof url !== 'string' || url.length > MAX_LENGTH || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return PROTOCOLS.includes(protocol) && !username && !password;
}
