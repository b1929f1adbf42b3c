import type { NetworkError, OutboundTarget, OutboundVerdict } from '../../../model/outbound-rule.ts';

/** Returns the error that a rule has a call fail with, if any. */
export function ruleError({ action, error, rules }: OutboundVerdict, target: OutboundTarget): Error | undefined {
  const rule = rules.at(-1)?.text ?? 'the configuration';
  if (action === 'block') return networkError('ECONNREFUSED', target, rule);
  return error && networkError(error, target, rule);
}

/** The error that Node gives when the network fails in that way; its message says that a rule made it up. */
function networkError(code: NetworkError, { hostname, port }: OutboundTarget, rule: string): Error {
  const createError = (syscall: string, target: string, details: object) =>
    Object.assign(new Error(`${syscall} ${code}${target} (outbound rule: ${rule})`), { code, syscall, ...details });
  if (code === 'ENOTFOUND') return createError('getaddrinfo', ` ${hostname}`, { hostname });
  if (code === 'ECONNRESET') return createError('read', '', {});
  return createError('connect', ` ${hostname}:${port}`, { address: hostname, port });
}
