/** Carries the key that a page has bound its session to (D-214). */
export const SESSION_KEY_HEADER = 'X-Terrarium-Session-Key';

/** A page's WebSocket has no header of its own: the key comes along as one more protocol that is offered, and never chosen. */
const PROTOCOL = 'terrarium.session-key.';

export function sessionKeyProtocol(key: string): string {
  return PROTOCOL + key;
}

/** The key among the protocols that a handshake offers. */
export function sessionKeyIn(offered: string | undefined): string | undefined {
  const protocols = offered?.split(',').map((one) => one.trim());
  return protocols?.find((one) => one.startsWith(PROTOCOL))?.slice(PROTOCOL.length);
}
