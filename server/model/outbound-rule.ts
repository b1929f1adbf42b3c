import { canonicalHost } from './host-names.ts';
import type { Json } from './json.ts';
import { matchesStars } from './matches-stars.ts';

/** Actions for a matching outbound call: `delay` waits, then the following rules apply. */
export const OUTBOUND_ACTIONS = ['catch', 'pass', 'block', 'delay', 'fail', 'answer'] as const;
export type OutboundAction = (typeof OUTBOUND_ACTIONS)[number];

export const NETWORK_ERRORS = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT'] as const;
export type NetworkError = (typeof NETWORK_ERRORS)[number];

/** A `host` of a rule that matches the CRM hosts in the variables of the calling lambda (D-200). */
export const OWN_CRM = '{crm}';

export interface OutboundAnswer {
  headers?: Record<string, string>;
  /** Text is sent as it is, any other value as JSON. */
  body?: Json;
  /** The path of a file to send instead of `body`. */
  file?: string;
  /** The number of calls to answer; the following rules apply to later ones. */
  times?: number;
  /** The number of calls to leave to the following rules first. */
  after?: number;
}

export interface OutboundRule extends OutboundAnswer {
  id: string;
  /** A host in which `*` matches any part, with an optional port: `api.example`, `*.example:8443`; or `{crm}`. */
  host: string;
  action: OutboundAction;
  delayMs?: number;
  status?: number;
  error?: NetworkError;
  enabled: boolean;
}

export interface OutboundTarget {
  hostname: string;
  port: number;
  /** True if it is the host of the lambda's CRM_API_BASEPATH, or if the call sends a form to a CRM (D-200). */
  isCrm: boolean;
  /** The address to connect to, if the host name is the one by which the lambda has looked it up. */
  address?: string;
  /** A mock receives all connections to this port. */
  isMockedPort?: boolean;
  /** The method of the resolver, such as `queryMx`, if it is a name to look up. */
  query?: string;
  /** It is beyond this machine. */
  isOutside?: boolean;
  /** The reason for which it is blocked unless a rule decides otherwise. */
  blockedAs?: BlockReason;
  /** True if a look-up of its name failed, so that nothing but a mock can respond. */
  isUnresolved?: boolean;
}

/** A host outside this machine with `outbound.default: block`, or the metadata service of a cloud. */
export type BlockReason = 'outside' | 'metadata';

/** A rule that matched a call, as it was then. (A type instead of an interface, so that it is assignable to JSON.) */
export type MetRule = { id: string; text: string };

export interface OutboundVerdict {
  action: Exclude<OutboundAction, 'delay'>;
  delayMs: number;
  status?: number;
  error?: NetworkError;
  answer?: OutboundAnswer;
  /** The reason of a call that is blocked without a rule. */
  blockedAs?: BlockReason;
  /** True if the call fails because its host name does not exist. */
  isUnresolved?: true;
  rules: MetRule[];
}

/**
 * Delays add up until a rule decides. Without one, calls to a mocked port are intercepted, and those to the CRM if `catchesCrm`. Undefined: not affected.
 *
 * @param skippedIds rules that do not apply to this call, because of its number
 */
export function decideOutbound(
  rules: readonly OutboundRule[],
  target: OutboundTarget,
  catchesCrm: boolean,
  skippedIds?: ReadonlySet<string>,
): OutboundVerdict | undefined {
  const met: MetRule[] = [];
  const isLookUp = target.query !== undefined;
  let delayMs = 0;
  for (const rule of rules) {
    const { id, action, status, error } = rule;
    if (!rule.enabled || skippedIds?.has(id) || !meets(rule.host, target)) continue;
    // No rule responds to a look-up by HTTP or delays it.
    if (isLookUp && action !== 'pass' && action !== 'block' && !error) continue;
    // Only a rule that names it opens the metadata service.
    if (target.blockedAs === 'metadata' && rule.host.includes('*') && action !== 'block') continue;
    met.push({ id, text: describeRule(rule) });
    if (action === 'pass' && target.isUnresolved) return unresolved(delayMs, met);
    if (action !== 'delay') {
      return {
        action,
        delayMs,
        ...(action === 'answer' && { answer: rule }),
        ...(status !== undefined && { status }),
        ...(error && { error }),
        rules: met,
      };
    }
    delayMs += rule.delayMs ?? 0;
  }
  if (!isLookUp && (target.isMockedPort || (target.isCrm && catchesCrm)))
    return { action: 'catch', delayMs, rules: met };
  // With `outbound.crm: pass`, calls to the CRM are to leave.
  const { blockedAs } = target;
  if (blockedAs && !(target.isCrm && !catchesCrm && blockedAs === 'outside'))
    return { action: 'block', delayMs, blockedAs, rules: met };
  if (target.isUnresolved) return unresolved(delayMs, met);
  return met.length > 0 ? { action: 'pass', delayMs, rules: met } : undefined;
}

/** The verdict on a host whose name does not exist. */
export function unresolved(delayMs: number, rules: MetRule[]): OutboundVerdict {
  return { action: 'fail', error: 'ENOTFOUND', delayMs, isUnresolved: true, rules };
}

interface RuleSummary {
  host: string;
  action: OutboundAction;
  delayMs?: number | undefined;
  status?: number | undefined;
  error?: NetworkError | undefined;
}

/** True for the text of a rule that responds instead of the host. */
export const isResponseText = (text: string): boolean => /^(answer|fail) with /.test(text);

export function describeRule({ host, action, delayMs, status, error }: RuleSummary): string {
  if (action === 'delay') return `delay of ${delayMs} ms for ${host}`;
  if (action === 'answer') return `answer with ${status ?? 200} for ${host}`;
  return action === 'fail' ? `fail with ${status ?? error} for ${host}` : `${action} for ${host}`;
}

/** Returns why a call fails: the rule; or without one, the policy and the rule that would allow the call. */
export function reasonOfVerdict(
  { blockedAs, isUnresolved, rules }: OutboundVerdict,
  { hostname }: OutboundTarget,
): string {
  if (isUnresolved) return 'the host name does not exist, or no name server responds';
  if (blockedAs === undefined) return `outbound rule: ${rules.at(-1)?.text ?? 'the configuration'}`;
  const fact =
    blockedAs === 'metadata' ? 'metadata services of clouds are blocked' : "the setting outbound.default is 'block'";
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return `${fact}; the outbound rule { "host": "${host}", "action": "pass" } allows the call`;
}

/** A pattern with more of them is slow to compare, and hosts do not need it. */
const MAX_STARS = 4;
const PATTERN = /^(\{crm\}|([A-Za-z0-9._*-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?)$/;

/** Returns the reason why the text is not valid as the `host` of a rule; undefined if it is valid. */
export function faultOfHost(text: string): string | undefined {
  if (text.length > 255 || !PATTERN.test(text))
    return `is not a host such as api.example, *.example:8443 or ${OWN_CRM}`;
  return text.split('*').length > MAX_STARS + 1 ? `has more than ${MAX_STARS} stars` : undefined;
}

/** Names of this machine that lead to the same service, so a rule for one of them applies to all. */
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '::1'];

export function meets(pattern: string, { hostname, address = hostname, port, isCrm }: OutboundTarget): boolean {
  if (pattern === OWN_CRM) return isCrm;
  const [, host = '', wantedPort] = /^(\[[^\]]*\]|.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
  return [hostname, address].some((candidate) => {
    if (host.includes('*')) return matchesStars(host, candidate);
    const [named, called] = [canonicalHost(host), canonicalHost(candidate)];
    return named === called || (LOOPBACK.includes(named) && LOOPBACK.includes(called));
  });
}
