import type { NetworkError, OutboundTarget } from '../../model/outbound-rule.ts';

/** The error that Node gives when the network fails in that way; its message says that a rule made it up. */
export function networkError(code: NetworkError, { hostname, port }: OutboundTarget, rule: string): Error {
  const made = (message: string, details: object) =>
    Object.assign(new Error(`${message} (outbound rule: ${rule})`), { code, ...details });
  switch (code) {
    case 'ENOTFOUND':
      return made(`getaddrinfo ENOTFOUND ${hostname}`, { syscall: 'getaddrinfo', hostname });
    case 'ECONNRESET':
      return made('read ECONNRESET', { syscall: 'read' });
    default:
      return made(`connect ${code} ${hostname}:${port}`, { syscall: 'connect', address: hostname, port });
  }
}
