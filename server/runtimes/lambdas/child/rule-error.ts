import {
  type NetworkError,
  type OutboundTarget,
  type OutboundVerdict,
  reasonOfVerdict,
} from '../../../model/outbound-rule.ts';

/** The errors of calls that were blocked. */
const refusals = new WeakSet<object>();

/** The ports of FTP, SSH, mail and MySQL, where a client waits for the server, unless it starts TLS. */
export const SERVER_FIRST_PORTS: ReadonlySet<number> = new Set([21, 22, 25, 110, 143, 587, 1025, 2525, 3306]);
/** The ports of such protocols with TLS from the start. */
export const SERVER_FIRST_TLS_PORTS: ReadonlySet<number> = new Set([465, 990, 993, 995]);

/** Returns the error that a rule or the policy has a call fail with, if any. */
export function ruleError(verdict: OutboundVerdict, target: OutboundTarget): Error | undefined {
  const { action, error } = verdict;
  // The clients would wait for a greeting until the invocation times out.
  const isServerFirst =
    target.isMockedPort ||
    (target.isOutside && (SERVER_FIRST_PORTS.has(target.port) || SERVER_FIRST_TLS_PORTS.has(target.port)));
  if (isServerFirst && (action === 'answer' || (action === 'fail' && !error)))
    return unsuitableRuleError(verdict, target, NEEDS_HTTP);
  const reason = reasonOfVerdict(verdict, target);
  if (action !== 'block') return error && networkError(error, target, reason);
  const refusal = networkError('ECONNREFUSED', target, reason);
  refusals.add(refusal);
  return refusal;
}

export const NEEDS_HTTP = 'its response is in HTTP, so use block, or fail with an error';
export const NO_TUNNEL = "it cannot open a proxy's tunnel, so let a rule with pass for the proxy come before it";

/** The error of a connection to which a rule cannot respond. */
export function unsuitableRuleError(verdict: OutboundVerdict, target: OutboundTarget, advice: string): Error {
  return networkError('ECONNREFUSED', target, `${reasonOfVerdict(verdict, target)}; ${advice}`);
}

/** A chain of causes may be a circle. */
const MAX_CAUSES = 5;

/** True if the error, or one of its causes, comes from a blocked call. */
export function isRefusal(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === 'object' && cause !== null; depth += 1) {
    if (refusals.has(cause)) return true;
    cause = 'cause' in cause ? cause.cause : undefined;
  }
  return false;
}

/** The error that Node gives when the network fails in that way; its message says that a rule made it up. */
function networkError(code: NetworkError, { hostname, port, query }: OutboundTarget, reason: string): Error {
  const createError = (syscall: string, target: string, details: object) =>
    Object.assign(new Error(`${syscall} ${code}${target} (${reason})`), { code, syscall, ...details });
  if (query !== undefined) return createError(query, ` ${hostname}`, { hostname });
  if (code === 'ENOTFOUND') return createError('getaddrinfo', ` ${hostname}`, { hostname });
  if (code === 'ECONNRESET') return createError('read', '', {});
  return createError('connect', ` ${hostname}:${port}`, { address: hostname, port });
}
