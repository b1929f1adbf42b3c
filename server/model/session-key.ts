/** The header for the key to which a page has bound its session (D-214). */
export const SESSION_KEY_HEADER = 'X-Terrarium-Session-Key';

/** A WebSocket of a page cannot have custom headers: the key is sent as an additional offered protocol, which is never selected. */
const PROTOCOL = 'terrarium.session-key.';

export function sessionKeyProtocol(key: string): string {
  return PROTOCOL + key;
}

export function sessionKeyIn(offered: string | undefined): string | undefined {
  const protocols = offered?.split(',').map((protocol) => protocol.trim());
  return protocols?.find((protocol) => protocol.startsWith(PROTOCOL))?.slice(PROTOCOL.length);
}
